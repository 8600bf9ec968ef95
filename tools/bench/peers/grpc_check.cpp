// The cost of gRPC C++ alone: `EntitlementService.Check` answered from a dictionary.
//
// The asynchronous interface with one completion queue on one thread, gRPC C++'s cheapest server.
// Prints the port it listens on.
#include <grpcpp/grpcpp.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "entitled/v1/entitlement_service.grpc.pb.h"

namespace {
using entitled::v1::CheckRequest;
using entitled::v1::CheckResponse;
using entitled::v1::EntitlementService;

constexpr int kWaitingCalls = 512;  // more than any load here has in flight

using Customers = std::unordered_map<std::string, CheckResponse>;

Customers make_customers(int count) {
  Customers customers;
  customers.reserve(static_cast<size_t>(count));
  for (int i = 1; i <= count; ++i) {
    char name[32];
    std::snprintf(name, sizeof name, "customer-%07d", i);
    CheckResponse answer;
    auto &entitlement = *answer.mutable_entitlement();
    entitlement.set_name("pro");
    entitlement.set_entitled(true);
    entitlement.set_reason("SUBSCRIPTION_ACTIVE");
    entitlement.set_product_id("pro.monthly");
    entitlement.set_transaction_id(std::to_string(2'000'000'000'000 + i));
    entitlement.set_original_transaction_id(std::to_string(2'000'000'000'000 + i));
    entitlement.mutable_until()->set_seconds(1'893'456'000 + i);
    answer.mutable_evaluated_at()->set_seconds(1'767'225'600);
    customers.emplace(name, std::move(answer));
  }
  return customers;
}

// One call from its arrival to its end; then another waits in its place.
class Call {
 public:
  Call(EntitlementService::AsyncService &service, grpc::ServerCompletionQueue &queue, const Customers &customers)
      : service_(service), queue_(queue), customers_(customers), writer_(&context_) {
    service_.RequestCheck(&context_, &request_, &writer_, &queue_, &queue_, this);
  }

  void proceed(bool ok) {
    if (!ok || answered_) {
      delete this;
      return;
    }
    new Call(service_, queue_, customers_);
    answered_ = true;
    auto found = customers_.find(request_.customer_id());
    writer_.Finish(found == customers_.end() ? CheckResponse() : found->second, grpc::Status::OK, this);
  }

 private:
  EntitlementService::AsyncService &service_;
  grpc::ServerCompletionQueue &queue_;
  const Customers &customers_;
  grpc::ServerContext context_;
  CheckRequest request_;
  grpc::ServerAsyncResponseWriter<CheckResponse> writer_;
  bool answered_ = false;
};
}  // namespace

int main(int argc, char **argv) {
  const Customers customers = make_customers(argc > 1 ? std::atoi(argv[1]) : 100'000);

  EntitlementService::AsyncService service;
  grpc::ServerBuilder builder;
  int port = 0;
  builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port);
  builder.RegisterService(&service);
  auto queue = builder.AddCompletionQueue();
  auto server = builder.BuildAndStart();
  if (!server) return 1;
  std::printf("ready port=%d\n", port);
  std::fflush(stdout);

  for (int i = 0; i < kWaitingCalls; ++i) new Call(service, *queue, customers);
  void *tag = nullptr;
  bool ok = false;
  while (queue->Next(&tag, &ok)) static_cast<Call *>(tag)->proceed(ok);
  return 0;
}
