/* SPDX-License-Identifier: BSD-2-Clause */
// Makes jsoncpp read, change and write, wrong text among it.
#include <json/json.h>
#include <iostream>
#include <memory>
#include <sstream>
int main()
{
    const char *text = "// c\n{\"a\":[1,2,{\"b\":\"text that is rather long\"}],/*x*/\"long key of "
                       "an object\":true,\"n\":null,\"d\":1.5e10,\"u\":\"\\u00e9\"}";
    Json::Value root;
    Json::CharReaderBuilder builder;
    std::string errors;
    std::istringstream stream(text);
    Json::parseFromStream(builder, stream, &root, &errors);
    std::unique_ptr<Json::CharReader> reader(builder.newCharReader());
    std::string bad = "{\"a\":[1,}";
    Json::Value other;
    reader->parse(bad.data(), bad.data() + bad.size(), &other, &errors);
    Json::Reader old;
    old.parse(text, other, true);
    old.parse(bad, other);
    std::cout << old.getFormattedErrorMessages();
    other = root;
    for (int i = 0; i < 20; i++)
        other["list"].append(i);
    other["list"].insert(0, "s");
    other["copy"] = root["a"];
    other["a"].setComment(std::string("// remark"), Json::commentBefore);
    other.removeMember("n");
    for (auto const &name : other.getMemberNames())
        std::cout << name;
    Json::StreamWriterBuilder write;
    std::cout << Json::writeString(write, other);
    Json::FastWriter fast;
    std::cout << fast.write(other);
    Json::StyledWriter styled;
    std::cout << styled.write(other);
    Json::StyledStreamWriter ss;
    ss.write(std::cout, other);
    Json::Path path(".a[2].b");
    std::cout << path.resolve(root).asString() << other.toStyledString();
    Json::Path("a.%", "q").make(other) = 1;
    try {
        other["a"].asInt();
    } catch (std::exception const &e) {
        std::cout << e.what();
    }
}
