// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Layers of neural networks.

#include <topos/nn/attention.hpp>
#include <topos/nn/embedding.hpp>
#include <topos/nn/linear.hpp>
#include <topos/nn/load.hpp>
#include <topos/nn/normalization.hpp>
#include <topos/nn/parameter.hpp>
#include <topos/nn/pooling.hpp>
#include <topos/nn/sequences.hpp>
