/** The native core for Node.js. Each call runs on a thread of Node's pool and returns a promise, so the event loop goes on. */
#include <napi.h>

#include <functional>
#include <string>
#include <utility>
#include <variant>

#include "core/fnv.h"
#include "core/known.h"
#include "core/probe.h"
#include "core/report_json.h"

namespace {

using Work = std::function<meshwright::Known<std::string>()>;

/** One call. Node deletes it after its promise is settled. An unknown result and a thrown exception reject the promise. */
class Call final : public Napi::AsyncWorker {
 public:
  static Napi::Value start(Napi::Env env, Work work) {
    auto* call = new Call(env, std::move(work));
    call->Queue();
    return call->deferred_.Promise();
  }

 private:
  Call(Napi::Env env, Work work)
      : AsyncWorker(env), work_(std::move(work)), deferred_(Napi::Promise::Deferred::New(env)) {}

  void Execute() override {
    meshwright::Known<std::string> result = work_();
    if (const meshwright::Unknown* why = meshwright::unknown_in(result)) {
      SetError(why->detail);
    } else {
      text_ = std::move(std::get<std::string>(result));
    }
  }
  void OnOK() override { deferred_.Resolve(Napi::String::New(Env(), text_)); }
  void OnError(const Napi::Error& error) override { deferred_.Reject(error.Value()); }

  Work work_;
  Napi::Promise::Deferred deferred_;
  std::string text_;
};

Napi::Value probe(const Napi::CallbackInfo& info) {
  return Call::start(info.Env(), [] { return meshwright::report_json(meshwright::probe()); });
}

Napi::Value fnv(const Napi::CallbackInfo& info) {
  if (!info[0].IsString()) throw Napi::TypeError::New(info.Env(), "Expected the path of a file.");
  const std::string path = info[0].As<Napi::String>();
  return Call::start(info.Env(), [path] { return meshwright::fnv_of_file(path); });
}

Napi::Object init(Napi::Env env, Napi::Object exports) {
  exports.Set("probe", Napi::Function::New(env, probe));
  exports.Set("fnv", Napi::Function::New(env, fnv));
  return exports;
}

}  // namespace

NODE_API_MODULE(meshwright, init)
