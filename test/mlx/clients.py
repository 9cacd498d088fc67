"""Asks an endpoint as programs do that use openai or litellm. Prints one JSON object: what each call returned."""

import json
import sys

import litellm
import openai

litellm.suppress_debug_info = True
url, key = sys.argv[1:]
messages = [{"role": "user", "content": "Tell me of the cable."}]
client = openai.OpenAI(base_url=url, api_key=key, max_retries=0)


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


calls = {
    "openai models": lambda: [model.id for model in client.models.list()],
    "openai chat": lambda: told(chat(temperature=None, top_p=None, seed=None, extra_body={"stop": None})),
    "openai stream": lambda: streamed(chat(stream=True)),
    "openai empty": lambda: client.chat.completions.create(model="tiny", messages=[]),
    "openai responses": lambda: client.responses.create(model="tiny", input="Hi"),
    "litellm chat": lambda: told(lite()),
    "litellm stream": lambda: streamed(lite(stream=True)),
    "litellm wrong": lambda: lite(temperature=-1),
}


def result(call):
    try:
        return call()
    except Exception as error:
        return {"error": type(error).__name__, "text": str(error)}


print(json.dumps({name: result(call) for name, call in calls.items()}))
