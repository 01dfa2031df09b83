// SPDX-License-Identifier: Apache-2.0
#pragma once

/// All of topos but nn/, executor/ and io/, which have umbrellas of their own.

#include <topos/async/event.hpp>
#include <topos/async/in_place_scope.hpp>
#include <topos/async/queue.hpp>
#include <topos/async/queue_scope.hpp>
#include <topos/core/broadcast.hpp>
#include <topos/core/config.hpp>
#include <topos/core/dtype.hpp>
#include <topos/core/error.hpp>
#include <topos/core/promotion.hpp>
#include <topos/core/shape.hpp>
#include <topos/core/version.hpp>
#include <topos/device/default_device.hpp>
#include <topos/device/device.hpp>
#include <topos/device/runtime.hpp>
#include <topos/expr/elementwise.hpp>
#include <topos/expr/expression.hpp>
#include <topos/expr/gather.hpp>
#include <topos/expr/generators.hpp>
#include <topos/expr/math.hpp>
#include <topos/expr/reshape.hpp>
#include <topos/expr/slice.hpp>
#include <topos/expr/views.hpp>
#include <topos/expr/where.hpp>
#include <topos/linalg/prepared_matrix.hpp>
#include <topos/memory/memory_stats.hpp>
#include <topos/memory/pool.hpp>
#include <topos/tensor/concatenate.hpp>
#include <topos/tensor/coroutine.hpp>
#include <topos/tensor/creation.hpp>
#include <topos/tensor/enqueue.hpp>
#include <topos/tensor/eval.hpp>
#include <topos/tensor/explain.hpp>
#include <topos/tensor/from_blob.hpp>
#include <topos/tensor/on_ready.hpp>
#include <topos/tensor/origin.hpp>
#include <topos/tensor/placement.hpp>
#include <topos/tensor/print.hpp>
#include <topos/tensor/tensor.hpp>
#include <topos/tensor/transfer_guard.hpp>
