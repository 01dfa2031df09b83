# SPDX-License-Identifier: Apache-2.0
"""Ray Serve's @serve.batch, called through handles: its quickest way, without HTTP."""
import collections
import os
import pathlib

# Nothing is reported to anybody, and nothing listens but on loopback.
os.environ.update(RAY_USAGE_STATS_ENABLED="0", RAY_SERVE_LOG_TO_STDERR="0")

import executor_peer
import ray
from executor_peer import BATCH_SIZE, ENCODE, NOOP
from ray import serve

# Seconds that a batch of texts waits to be full: quicker than not at all, other than with the model that does nothing.
ENCODE_WAIT = 0.02
HERE = str(pathlib.Path(__file__).resolve().parent)


@serve.deployment(max_ongoing_requests=4096, ray_actor_options={"num_cpus": 0})
class noop:
    @serve.batch(max_batch_size=BATCH_SIZE, batch_wait_timeout_s=0)
    async def run(self, items):
        return items

    async def __call__(self, item):
        return await self.run(item)


@serve.deployment(max_ongoing_requests=4096, ray_actor_options={"num_cpus": 0})
class encoder:
    def __init__(self, model, threads):
        self.encode = executor_peer.sentence_encoder(model, threads)

    @serve.batch(max_batch_size=BATCH_SIZE, batch_wait_timeout_s=ENCODE_WAIT)
    async def run(self, texts):
        return list(self.encode(texts))

    async def __call__(self, text):
        return await self.run(text)


class ray_serve_peer:
    def __init__(self, model, threads):
        ray.init(
            num_cpus=threads, include_dashboard=False, log_to_driver=False, _node_ip_address="127.0.0.1",
            object_store_memory=200_000_000, runtime_env={"env_vars": {"PYTHONPATH": HERE}},
        )
        serve.start(proxy_location="Disabled")
        self.handles = {
            NOOP: serve.run(noop.bind(), name=NOOP, route_prefix=None),
            ENCODE: serve.run(encoder.bind(model, threads), name=ENCODE, route_prefix=None),
        }
        self.versions = {"Ray Serve": ray.__version__}

    def run(self, workload, items, in_flight):
        handle, waiting, results = self.handles[workload], collections.deque(), []
        for item in items:
            if len(waiting) == in_flight:
                results.append(waiting.popleft().result())
            waiting.append(handle.remote(item))
        results.extend(response.result() for response in waiting)
        return results

    def close(self):
        ray.shutdown()


if __name__ == "__main__":
    executor_peer.serve(ray_serve_peer)
