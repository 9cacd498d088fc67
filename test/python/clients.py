"""Asks an endpoint as programs do that use openai, litellm or anthropic. Prints one JSON object: what each call returned."""

import json
import sys

import anthropic
import litellm
import openai

litellm.suppress_debug_info = True
url, key = sys.argv[1:]
messages = [{"role": "user", "content": "Tell me of the cable."}]
client = openai.OpenAI(base_url=url, api_key=key, max_retries=0)
# This client adds /v1 itself.
claude = anthropic.Anthropic(base_url=url.removesuffix("/v1"), api_key=key, max_retries=0)


def streamed(chunks):
    texts = [chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices]
    return {"hasText": "".join(texts) != ""}


def chat(**more):
    return client.chat.completions.create(model="tiny", messages=messages, max_tokens=4, **more)


def lite(**more):
    return litellm.completion(
        model="openai/tiny", api_base=url, api_key=key, messages=messages, max_tokens=4, **more
    )


def told(answer):
    return {"model": answer.model, "tokens": answer.usage.completion_tokens}


def spoken(model):
    answer = claude.messages.create(model=model, messages=messages, max_tokens=4)
    return {"model": answer.model, "tokens": answer.usage.output_tokens, "end": answer.stop_reason}


def spoken_stream():
    with claude.messages.stream(model="tiny", messages=messages, max_tokens=4) as stream:
        hasText = "".join(stream.text_stream) != ""
        return {"hasText": hasText, "end": stream.get_final_message().stop_reason}


calls = {
    "openai models": lambda: [model.id for model in client.models.list()],
    "openai chat": lambda: told(chat(temperature=None, top_p=None, seed=None, extra_body={"stop": None})),
    "openai stream": lambda: streamed(chat(stream=True)),
    "openai empty": lambda: told(client.chat.completions.create(model="tiny", messages=[])),
    "openai responses": lambda: client.responses.create(model="tiny", input="Hi").status,
    "anthropic message": lambda: spoken("tiny"),
    "anthropic stream": spoken_stream,
    "anthropic wrong": lambda: spoken("other"),
    "litellm chat": lambda: told(lite()),
    "litellm stream": lambda: streamed(lite(stream=True)),
    "litellm wrong": lambda: told(lite(temperature=-1)),
}


def result(call):
    try:
        return call()
    except Exception as error:
        return {"error": type(error).__name__, "text": str(error)}


print(json.dumps({name: result(call) for name, call in calls.items()}))
