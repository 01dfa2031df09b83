# SPDX-License-Identifier: Apache-2.0
"""Exports the model once, in the forms of which the peers pick their fastest.

    export_onnx.py MODEL FOLDER

plain.onnx: attention written out; fused.onnx: that through ONNX Runtime's own optimizer for transformers; sdpa.onnx:
attention as PyTorch's one operation exports it; openvino.xml: OpenVINO's own conversion from PyTorch. All are f32 and
end with the mean over the tokens and the normalisation to length 1.
"""
import pathlib
import sys

import openvino
import torch
from onnxruntime.transformers import optimizer
from sentence_transformers import SentenceTransformer


class sentence_model(torch.nn.Module):
    def __init__(self, model, attention):
        super().__init__()
        transformer = SentenceTransformer(
            model, device="cpu", model_kwargs={"attn_implementation": attention}
        )
        self.bert = transformer[0].auto_model.eval()

    def forward(self, input_ids, attention_mask, token_type_ids):
        hidden = self.bert(
            input_ids=input_ids, attention_mask=attention_mask, token_type_ids=token_type_ids
        ).last_hidden_state
        mask = attention_mask.unsqueeze(-1).float()
        mean = (hidden * mask).sum(1) / mask.sum(1).clamp(min=1e-9)
        return torch.nn.functional.normalize(mean, dim=1)


def main():
    model, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    ids = torch.ones((2, 5), dtype=torch.int64)
    mask = torch.tensor([[1, 1, 1, 1, 1], [1, 1, 1, 0, 0]])
    inputs = {"input_ids": ids, "attention_mask": mask, "token_type_ids": ids * 0}
    modules = {"plain": sentence_model(model, "eager"), "sdpa": sentence_model(model, "sdpa")}
    for name, module in modules.items():
        torch.onnx.export(
            module,
            tuple(inputs.values()),
            str(folder / f"{name}.onnx"),
            input_names=list(inputs),
            output_names=["embedding"],
            dynamic_axes={key: {0: "batch", 1: "tokens"} for key in inputs},
            opset_version=17,
            dynamo=False,
        )
    bert = modules["plain"].bert.config
    fused = optimizer.optimize_model(
        str(folder / "plain.onnx"),
        model_type="bert",
        num_heads=bert.num_attention_heads,
        hidden_size=bert.hidden_size,
    )
    counts = fused.get_fused_operator_statistics()
    if counts["Attention"] != bert.num_hidden_layers:
        sys.exit(f"the optimizer fused {counts['Attention']} of {bert.num_hidden_layers} attentions")
    fused.save_model_to_file(str(folder / "fused.onnx"))
    converted = openvino.convert_model(modules["sdpa"], example_input=inputs)
    openvino.save_model(converted, folder / "openvino.xml", compress_to_fp16=False)


if __name__ == "__main__":
    main()
