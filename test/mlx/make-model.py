"""Makes a tiny model for mlx_lm with random weights, always the same: make-model.py FOLDER [qwen2|llama]

Every token that it can answer is printable ASCII, as apply expects of a golden answer. Both kinds split by tensor;
qwen2 also splits as a pipeline.
"""
import json
import os
import sys

import mlx.core as mx
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

folder, kind = sys.argv[1], (sys.argv[2:] or ["qwen2"])[0]
text = """A cable connects two computers. Each computer has a part of every matrix, and sums travel around the ring.
When a rank is lost, the others cannot answer. What does the first rank say, and who hears it? The file names the model,
the nodes and the transport; everything else is made from them. {"role": "user", "content": "Tell me of the cable."}"""
vocabulary, hidden, inner, layers, heads, width = 512, 64, 128, 4, 4, 16

tokenizer = Tokenizer(models.BPE())
tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
tokenizer.decoder = decoders.ByteLevel()
special = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
alphabet = pre_tokenizers.ByteLevel.alphabet()
tokenizer.train_from_iterator(
    [text],
    trainers.BpeTrainer(vocab_size=vocabulary, special_tokens=special, initial_alphabet=alphabet, show_progress=False),
)


def write(name, value):
    with open(os.path.join(folder, name), "w") as file:
        json.dump(value, file)


mx.random.seed(7)
table = (vocabulary, hidden)
shapes = {"model.embed_tokens.weight": table, "lm_head.weight": table, "model.norm.weight": (hidden,)}
for layer in range(layers):
    at = f"model.layers.{layer}."
    for name in "qkvo":
        shapes[f"{at}self_attn.{name}_proj.weight"] = (heads * width, hidden)
        if kind == "qwen2" and name != "o":
            shapes[f"{at}self_attn.{name}_proj.bias"] = (heads * width,)
    for name, shape in {"gate": (inner, hidden), "up": (inner, hidden), "down": (hidden, inner)}.items():
        shapes[f"{at}mlp.{name}_proj.weight"] = shape
    for name in ("input", "post_attention"):
        shapes[f"{at}{name}_layernorm.weight"] = (hidden,)
weights = {
    name: (mx.ones(shape) if "norm" in name else mx.random.normal(shape) * 0.08).astype(mx.bfloat16)
    for name, shape in shapes.items()
}
# Without special tokens, their text is empty.
texts = [tokenizer.decode([token]) for token in range(vocabulary)]
mask = mx.array([float(text != "" and text.isascii() and text.isprintable()) for text in texts])
weights["lm_head.weight"] = (weights["lm_head.weight"] * mask[:, None]).astype(mx.bfloat16)

os.makedirs(folder, exist_ok=True)
tokenizer.save(os.path.join(folder, "tokenizer.json"))
template = (
    "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
write("tokenizer_config.json", {
    "tokenizer_class": "PreTrainedTokenizerFast", "eos_token": "<|im_end|>", "pad_token": "<|endoftext|>",
    "model_max_length": 4096, "chat_template": template, "clean_up_tokenization_spaces": False,
})
architecture = {"qwen2": "Qwen2ForCausalLM", "llama": "LlamaForCausalLM"}[kind]
write("config.json", {
    "architectures": [architecture], "model_type": kind, "torch_dtype": "bfloat16", "hidden_act": "silu",
    "hidden_size": hidden, "intermediate_size": inner, "num_hidden_layers": layers, "num_attention_heads": heads,
    "num_key_value_heads": heads, "head_dim": width, "vocab_size": vocabulary, "max_position_embeddings": 4096,
    "rms_norm_eps": 1e-5, "rope_theta": 10000.0, "tie_word_embeddings": False,
    "bos_token_id": 0, "eos_token_id": special.index("<|im_end|>"),
})
mx.save_safetensors(os.path.join(folder, "model.safetensors"), weights, metadata={"format": "mlx"})
write("model.safetensors.index.json", {
    "metadata": {"total_size": sum(one.nbytes for one in weights.values())},
    "weight_map": {name: "model.safetensors" for name in sorted(weights)},
})

# Checks the model. Ranks write no bytecode, so this also compiles the packages for them.
from mlx_lm import load, server

load(folder)
