/* SPDX-License-Identifier: BSD-2-Clause */
// Makes yaml-cpp read, change and write, wrong text among it.
#include <yaml-cpp/yaml.h>
#include <iostream>
#include <map>
#include <vector>
int main()
{
    YAML::Node node =
        YAML::Load("%YAML 1.2\n---\na: &x [1, 2, {b: c}]\nd: *x\n? e\n: - f\n  - !!str g\n  - |\n  "
                   "  block\n    text\n  - >-\n    folded\n    text\n\"quoted\\n\": 'single'\n# "
                   "comment\nmap: {k: v, l: [x, y, z]}\nn: ~\n");
    for (auto const &pair : node)
        std::cout << pair.first << pair.second << '\n';
    node["new"]["deep"] = 5;
    node["list"].push_back(std::string("some longer text to store"));
    node["vector"] = std::vector<int>{1, 2, 3};
    node["map2"] = std::map<std::string, double>{{"a", 1.5}};
    node.remove("n");
    auto all = YAML::LoadAll("a: 1\n---\nb: 2\n...\n---\n- c\n");
    std::cout << all.size() << YAML::Dump(node) << YAML::Clone(node);
    YAML::Emitter out;
    out << YAML::BeginMap << YAML::Key << "k" << YAML::Value << YAML::BeginSeq << 1 << YAML::Flow
        << YAML::BeginSeq << 2 << 3 << YAML::EndSeq << YAML::EndSeq << YAML::Key << "l"
        << YAML::Value << YAML::Literal << "A\nB" << YAML::Key << "al" << YAML::Value
        << YAML::Anchor("z") << "q" << YAML::Key << "r" << YAML::Value << YAML::Alias("z")
        << YAML::Comment("c") << YAML::EndMap;
    std::cout << out.c_str() << node["map2"].as<std::map<std::string, double>>().size()
              << node["vector"].as<std::vector<int>>().size();
    try {
        YAML::Load("a: [1");
    } catch (std::exception const &e) {
        std::cout << e.what();
    }
    try {
        node["vector"].as<double>();
    } catch (std::exception const &e) {
        std::cout << e.what();
    }
}
