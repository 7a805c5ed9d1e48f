"""What traces cost, worked out without Holdfast: sum_trace.py PRICES.json MODEL TRACE.csv... prints micro-dollars."""
import csv, json, sys
from decimal import ROUND_HALF_UP, Decimal

prices, model, *traces = sys.argv[1:]
price = json.load(open(prices), parse_float=Decimal, parse_int=Decimal)[model]
total = 0
for row in (row for trace in traces for row in csv.DictReader(open(trace))):
    dollars = int(row["ContextTokens"]) * price["input_cost_per_token"] + int(row["GeneratedTokens"]) * price["output_cost_per_token"]
    total += int((dollars * 1_000_000).quantize(Decimal(1), ROUND_HALF_UP))
print(total)
