/* SPDX-License-Identifier: BSD-2-Clause */
// Makes leveldb write, compact, read and iterate, below the directory that is named.
#include "leveldb/cache.h"
#include "leveldb/db.h"
#include "leveldb/filter_policy.h"
#include "leveldb/write_batch.h"

#include <cstdio>
#include <string>

int main(int, char **arguments)
{
    leveldb::DB *db;
    leveldb::Options options;
    options.create_if_missing = true;
    options.write_buffer_size = 64 << 10;
    options.block_cache = leveldb::NewLRUCache(1 << 20);
    options.filter_policy = leveldb::NewBloomFilterPolicy(10);
    leveldb::Status status = leveldb::DB::Open(options, arguments[1], &db);
    if (!status.ok()) {
        std::fprintf(stderr, "%s\n", status.ToString().c_str());
        return 1;
    }
    std::string value(100, 'v'), result;
    for (int i = 0; i < 6000; i++)
        db->Put({}, "key" + std::to_string(i * 7919 % 100000), value);
    leveldb::WriteBatch batch;
    batch.Put("a", "b");
    batch.Delete("key1");
    db->Write({}, &batch);
    db->CompactRange(nullptr, nullptr);
    for (int i = 0; i < 2000; i++)
        db->Get({}, "key" + std::to_string(i * 7919 % 100000), &result);
    leveldb::Iterator *at = db->NewIterator({});
    for (at->SeekToFirst(); at->Valid(); at->Next())
        result = at->value().ToString();
    delete at;
    db->ReleaseSnapshot(db->GetSnapshot());
    delete db;
    delete options.block_cache;
    delete options.filter_policy;
    return 0;
}
