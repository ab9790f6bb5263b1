// Runs a model on OpenVINO: `run MODEL.pdmodel < inputs > outputs`, for any number of runs.
//
// In: for each input of each run a line `name dtype rank extents... values...`, and a line `run` behind those of one run.
// Out: the outputs in the same form. dtype is f32 or i64.

#include <cstdint>
#include <iostream>
#include <sstream>
#include <string>

#include <openvino/openvino.hpp>

template <typename T>
static void fill(ov::Tensor tensor, std::istream& line) {
    for (std::size_t i = 0; i < tensor.get_size(); ++i) line >> tensor.data<T>()[i];
}

template <typename T>
static void print(const ov::Tensor& tensor) {
    for (std::size_t i = 0; i < tensor.get_size(); ++i) std::cout << ' ' << tensor.data<T>()[i];
}

static ov::Tensor read(std::istream& line) {
    std::string dtype;
    std::size_t rank = 0;
    line >> dtype >> rank;
    ov::Shape shape(rank);
    for (auto& extent : shape) line >> extent;
    ov::Tensor tensor(dtype == "f32" ? ov::element::f32 : ov::element::i64, shape);
    if (dtype == "f32") fill<float>(tensor, line);
    else fill<std::int64_t>(tensor, line);
    return tensor;
}

static void write(const ov::Tensor& tensor) {
    const bool real = tensor.get_element_type() == ov::element::f32;
    std::cout << (real ? "f32 " : "i64 ") << tensor.get_shape().size();
    for (auto extent : tensor.get_shape()) std::cout << ' ' << extent;
    if (real) print<float>(tensor);
    else print<std::int64_t>(tensor);
    std::cout << '\n';
}

int main(int count, char** arguments) try {
    if (count != 2) return 2;
    ov::Core core;
    auto model = core.compile_model(core.read_model(arguments[1]), "CPU", ov::hint::inference_precision(ov::element::f32));
    auto request = model.create_infer_request();
    std::cout.precision(9);
    for (std::string text; std::getline(std::cin, text);) {
        std::istringstream line(text);
        std::string name;
        line >> name;
        if (name != "run") {
            request.set_tensor(name, read(line));
            continue;
        }
        request.infer();
        for (std::size_t i = 0; i < model.outputs().size(); ++i) write(request.get_output_tensor(i));
        std::cout << "run\n";
    }
    return 0;
} catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
}
