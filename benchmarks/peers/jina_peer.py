# SPDX-License-Identifier: Apache-2.0
"""Jina's dynamic batching: a deployment on loopback, posted to by its client."""
import os

# Nothing is reported to anybody.
os.environ.update(JINA_OPTOUT_TELEMETRY="1", JINA_LOG_LEVEL="ERROR")

import executor_peer
import jina
from docarray import BaseDoc, DocList
from docarray.typing import NdArray
from executor_peer import BATCH_SIZE, ENCODE, NOOP

# Milliseconds that a batch waits to be full, the quickest for each; there is no "not at all".
WAIT = {NOOP: 1, ENCODE: 20}


class number(BaseDoc):
    value: int


class text(BaseDoc):
    value: str


class embedding(BaseDoc):
    value: NdArray


class noop(jina.Executor):
    @jina.requests(on="/noop")
    def run(self, docs: DocList[number], **_) -> DocList[number]:
        return docs


class encoder(jina.Executor):
    def __init__(self, model, threads, **arguments):
        super().__init__(**arguments)
        self.encode = executor_peer.sentence_encoder(model, threads)

    @jina.requests(on="/encode")
    def run(self, docs: DocList[text], **_) -> DocList[embedding]:
        return DocList[embedding](embedding(value=row) for row in self.encode([doc.value for doc in docs]))


class jina_peer:
    def __init__(self, model, threads):
        self.deployments = {
            NOOP: self.start(noop, NOOP, {}),
            ENCODE: self.start(encoder, ENCODE, {"model": model, "threads": threads}),
        }
        self.versions = {"Jina": jina.__version__}

    @staticmethod
    def start(uses, name, arguments):
        batching = {f"/{name}": {"preferred_batch_size": BATCH_SIZE, "timeout": WAIT[name]}}
        return jina.Deployment(
            uses=uses, uses_with=arguments, uses_dynamic_batching=batching, host="127.0.0.1", host_in="127.0.0.1"
        ).__enter__()

    def run(self, workload, items, in_flight):
        item, result = (number, number) if workload == NOOP else (text, embedding)
        found = self.deployments[workload].post(
            on=f"/{workload}", inputs=DocList[item](item(value=value) for value in items), request_size=1,
            prefetch=in_flight, results_in_order=True, return_type=DocList[result],
        )
        return [doc.value for doc in found]

    def close(self):
        for deployment in self.deployments.values():
            deployment.close()


if __name__ == "__main__":
    executor_peer.serve(jina_peer)
