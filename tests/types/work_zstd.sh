# SPDX-License-Identifier: BSD-2-Clause
# Makes zstd compress, train dictionaries, test and list, in the folder of its sources.
z=programs/zstd
rm -rf data && mkdir data
for i in 1 2 3 4 5 6 7 8; do
    for j in 1 2 3; do cat lib/compress/*.c | head -c $((i * 20000)) >data/f$i.$j; done
done
cat lib/*/*.c lib/*/*.h >data/big
$z -q -f -k data/f1.1 data/f2.2
$z -q -f -d data/f1.1.zst -o data/out
$z -q -f -T2 --long -19 data/big -o data/b.zst
$z -q -t data/b.zst
$z -q --train data/f* -o data/dict --maxdict=4096
$z -q -f -D data/dict data/f3.1 -o data/x.zst
$z -q -f -d -D data/dict data/x.zst -o data/x
$z -q -b1 -i0 data/f1.1
$z -l data/b.zst
$z -q -r -f data -o data/all.zst
$z -q -f --train-legacy data/f* -o data/dict2 --maxdict=4096
$z -q -f --train-fastcover data/f* -o data/dict3 --maxdict=4096
true
