# SPDX-License-Identifier: BSD-2-Clause
"""Reads orders into a large dict, indexes them, and writes them as JSON."""
import collections
import json


class Order:
    def __init__(self, number):
        self.number = number
        self.tags = [f"tag {number % 7}"]
        self.note = f"order number {number}"


def load(count):
    return {f"order-{number}": Order(number) for number in range(count)}


def index(orders):
    by_tag = collections.defaultdict(list)
    for key, order in orders.items():
        by_tag[order.tags[0]].append(key)
    return by_tag


def report(orders):
    return json.dumps([{"number": order.number, "note": order.note} for order in orders.values()])


orders = load(30000)
by_tag = index(orders)
print(len(by_tag), len(report(orders)))
