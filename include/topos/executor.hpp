// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Models on their devices: batching, deployments and their statistics.

#include <topos/executor/batcher.hpp>
#include <topos/executor/byte_model.hpp>
#include <topos/executor/deployment.hpp>
#include <topos/executor/endpoint.hpp>
#include <topos/executor/errors.hpp>
#include <topos/executor/fixed_string.hpp>
#include <topos/executor/future.hpp>
#include <topos/executor/item_source.hpp>
#include <topos/executor/options.hpp>
#include <topos/executor/outcome.hpp>
#include <topos/executor/progress.hpp>
#include <topos/executor/request_stream.hpp>
#include <topos/executor/result_stream.hpp>
#include <topos/executor/statistics.hpp>
#include <topos/executor/time_source.hpp>
