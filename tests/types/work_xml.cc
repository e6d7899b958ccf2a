/* SPDX-License-Identifier: BSD-2-Clause */
// Makes tinyxml2 read, change and write, wrong text among it.
#include "tinyxml2.h"
#include <cstdio>
using namespace tinyxml2;
int main()
{
    XMLDocument document;
    document.Parse("<?xml version=\"1.0\"?><!-- c --><a x=\"1\" yy=\"long attribute &amp; "
                   "more\"><b>text &#233; more</b><![CDATA[raw]]><c/><!UNK x></a>");
    XMLElement *root = document.RootElement();
    for (int i = 0; i < 200; i++) {
        XMLElement *child = document.NewElement("child");
        child->SetAttribute("number", i);
        child->SetText("some text that is long enough to be stored on the heap");
        root->InsertEndChild(child);
        child->InsertNewComment("remark");
    }
    root->DeleteChild(root->FirstChild());
    XMLDocument copy;
    document.DeepCopy(&copy);
    XMLPrinter printer;
    copy.Print(&printer);
    std::printf("%d\n", printer.CStrSize());
    document.SaveFile("out.xml");
    XMLDocument *loaded = new XMLDocument;
    loaded->LoadFile("out.xml");
    delete loaded;
    XMLDocument bad;
    bad.Parse("<a><b></a>");
    std::printf("%s\n", bad.ErrorStr());
}
