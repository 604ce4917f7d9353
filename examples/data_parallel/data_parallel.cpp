// Data-parallel training in small: linear regression by gradient descent, every rank on its share
// of the samples. The answer does not depend on the number of ranks.
#include <algorithm>
#include <array>
#include <ccl-tests/distributed.hpp>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <numeric>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace ccl_tests::primitives;

constexpr std::size_t features = 5, samples = 1000;
constexpr int epochs = 200;
constexpr double learning_rate = 0.1;

struct Sample {
  std::array<double, features> x;
  double y;
};

// y = 1 x[0] + 2 x[1] + ... + 0.5, and noise.
Sample make_sample(std::size_t number) {
  std::mt19937_64 random(number);
  std::normal_distribution<double> normal;
  Sample sample{{}, 0.5 + 0.1 * normal(random)};
  for (std::size_t f = 0; f < features; ++f) {
    sample.x[f] = normal(random);
    sample.y += static_cast<double>(f + 1) * sample.x[f];
  }
  return sample;
}

struct Model {
  std::array<double, features> weights{}, weights_gradient{};
  std::array<double, 1> bias{}, bias_gradient{};

  std::vector<Parameter> parameters() {
    return {{tensor_of(weights), tensor_of(weights_gradient)},
            {tensor_of(bias), tensor_of(bias_gradient)}};
  }
  double predict(const Sample& sample) const {
    return std::inner_product(weights.begin(), weights.end(), sample.x.begin(), bias[0]);
  }
};

// This rank's share of the samples, which all ranks shuffle in the same way.
std::vector<Sample> share(const Group& world, std::int32_t seed) {
  std::vector<std::size_t> order(samples);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::shuffle(order.begin(), order.end(), std::mt19937(static_cast<std::uint32_t>(seed)));
  std::vector<Sample> mine;
  for (auto i = static_cast<std::size_t>(world.rank()); i < samples;
       i += static_cast<std::size_t>(world.ranks()))
    mine.push_back(make_sample(order[i]));
  return mine;
}

// One step; returns this rank's mean squared error before it.
double step(Group& world, Model& model, const std::vector<Sample>& mine) {
  model.weights_gradient = {};
  model.bias_gradient = {};
  double squares = 0;
  for (const Sample& sample : mine) {
    const double error = model.predict(sample) - sample.y;
    squares += error * error;
    for (std::size_t f = 0; f < features; ++f)
      model.weights_gradient[f] += 2 * error * sample.x[f] * world.ranks() / samples;
    model.bias_gradient[0] += 2 * error * world.ranks() / samples;
  }
  sync_grad(world, model.parameters());  // shares differ in length: the sums above allow for it
  for (std::size_t f = 0; f < features; ++f)
    model.weights[f] -= learning_rate * model.weights_gradient[f];
  model.bias[0] -= learning_rate * model.bias_gradient[0];
  return mine.empty() ? 0 : squares / static_cast<double>(mine.size());
}

Model train(Group& world) {
  Model model;
  model.weights.fill(world.rank() + 1);  // until rank 0's replace them
  const std::array<Tensor, 2> tensors{tensor_of(model.weights), tensor_of(model.bias)};
  check_tensors(world, tensors);
  broadcast_tensors(world, tensors);

  const std::int32_t seed = sync_random_seed(world, 2024 + world.rank());
  const std::vector<Sample> mine = share(world, seed);
  for (int epoch = 0; epoch < epochs; ++epoch) {
    std::map<std::string, double> metrics{{"loss", step(world, model, mine)}};
    if (epoch % 50 != 0) continue;
    average_metrics(world, metrics, static_cast<double>(mine.size()));
    world.main_only([&] { std::printf("epoch %d loss %.5f\n", epoch, metrics["loss"]); });
  }
  world.main_only([&] {
    std::printf("seed %d bias %.6f weights", seed, model.bias[0]);
    for (const double weight : model.weights) std::printf(" %.6f", weight);
    std::printf("\n");
  });
  return model;
}

// Every rank predicts each ranks()-th sample; rank 0 gets the predictions in the samples' order.
void evaluate(Group& world, const Model& model) {
  std::vector<double> predictions;
  for (auto i = static_cast<std::size_t>(world.rank()); i < samples;
       i += static_cast<std::size_t>(world.ranks()))
    predictions.push_back(model.predict(make_sample(i)));
  std::vector<Bytes> part;
  for (const double& prediction : predictions)
    part.push_back(std::as_bytes(std::span(&prediction, 1)));
  Results results;
  collect_results(world, part, samples, results);
  double squares = 0;
  for (std::size_t i = 0; i < results.items.size(); ++i) {
    double prediction = 0;
    std::memcpy(&prediction, results.items[i].data(), sizeof prediction);
    const double error = prediction - make_sample(i).y;
    squares += error * error;
  }
  world.main_only([&] {
    std::printf("predictions %zu mean squared error %.6f\n", results.items.size(),
                squares / samples);
  });
}

int usage() {
  std::fprintf(stderr, "usage: data_parallel [--backend NAME] [--np PROCESSES]\n");
  return ccl_tests::exit_code(ccl_tests::Exit::usage);
}

}  // namespace

int main(int argc, char** argv) {
  ccl_tests::DistributedOptions options;
  int processes = 0;
  for (int i = 1; i < argc; i += 2) {
    const std::string_view flag = argv[i], value = i + 1 < argc ? argv[i + 1] : "";
    if (value.empty()) return usage();
    if (flag == "--backend") {
      options.backend = value;
    } else if (flag != "--np" ||
               std::from_chars(value.data(), value.data() + value.size(), processes).ec !=
                   std::errc() ||
               processes < 1) {
      return usage();
    }
  }
  if (processes > 0)  // this program again, that many times
    return ccl_tests::run_local_processes(processes, {"--backend", options.backend});
  return ccl_tests::run_distributed(options, [](Group& world) { evaluate(world, train(world)); });
}
