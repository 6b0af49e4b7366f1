"""Two drawings for the report, written as SVG by hand: legible on light and on dark pages."""

import math
from html import escape

from measures import share_within

STYLE = """
  text { font: 13px system-ui, sans-serif; fill: #6e7781 }
  .title { font-weight: 600 }
  .grid { stroke: #8c959f; stroke-opacity: 0.35 }
  .other { stroke: #8c959f; fill: #8c959f }
  .ours { stroke: #1f83e0; fill: #1f83e0 }
  .ours-text { fill: #1f83e0; font-weight: 600 }
  @media (prefers-color-scheme: dark) {
    text { fill: #adb5bd } .ours-text { fill: #58a6ff } .ours { stroke: #58a6ff; fill: #58a6ff }
  }
"""
# Hues of middle lightness, for the curves; Tactus keeps its own.
COLOURS = ("#d9730d", "#2da44e", "#a475f9", "#d6409f", "#b08800")


class Drawing:
    """Lines, texts and shapes on a page of a given size."""

    def __init__(self, width, height):
        self.size = (width, height)
        self.parts = []

    def line(self, x1, y1, x2, y2, kind, width=1):
        self.parts.append(
            f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" class="{kind}" stroke-width="{width}"/>')

    def text(self, x, y, words, anchor="start", kind="", colour=""):
        style = f' style="fill: {colour}"' if colour else ""
        self.parts.append(
            f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" class="{kind}"{style}>{escape(words)}</text>')

    def dot(self, x, y, kind, radius=4):
        self.parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius}" class="{kind}"/>')

    def curve(self, points, kind, colour=""):
        stroke = f"stroke: {colour}; " if colour else ""
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        self.parts.append(f'<polyline points="{path}" class="{kind}" style="{stroke}fill: none" stroke-width="2"/>')

    def __str__(self):
        width, height = self.size
        return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" '
                f'height="{height}">\n<style>{STYLE}</style>\n' + "\n".join(self.parts) + "\n</svg>\n")


class LogAxis:
    """Microseconds on a logarithmic axis between two pages' places."""

    def __init__(self, low, high, start, end):
        self.decades = (math.floor(math.log10(low)), math.ceil(math.log10(high)))
        self.start, self.end = start, end

    def __call__(self, value):
        low, high = self.decades
        share = (math.log10(max(value, 10.0**low)) - low) / (high - low)
        return self.start + share * (self.end - self.start)

    def marks(self):
        """Every decade with its name."""
        for decade in range(self.decades[0], self.decades[1] + 1):
            value = 10.0**decade
            yield value, f"{value:g} µs" if value < 1000 else f"{value / 1000:g} ms"


def bars(panels, title):
    """Panels of rows (name, ours?, p50, p99, maximum): a bar from median to 99 %, a line and a dot to the maximum."""
    rows = [row for _, content in panels for row in content]
    axis = LogAxis(0.1, max(row[4] for row in rows), 150, 725)
    height = 34 + sum(34 + 26 * len(content) for _, content in panels) + 24
    drawing = Drawing(760, height)
    drawing.text(10, 20, title, kind="title")
    bottom = height - 24
    for value, name in axis.marks():
        drawing.line(axis(value), 34, axis(value), bottom, "grid")
        drawing.text(axis(value), bottom + 17, name, "middle")
    y = 34
    for heading, content in panels:
        y += 22
        drawing.text(10, y, heading, kind="title")
        y += 12
        for name, ours, median, most, maximum in content:
            kind = "ours" if ours else "other"
            y += 13
            drawing.text(140, y + 4, name, "end", "ours-text" if ours else "")
            drawing.line(axis(median), y, max(axis(most), axis(median) + 2), y, kind, 10)
            drawing.line(axis(most), y, axis(maximum), y, kind, 2)
            drawing.dot(axis(maximum), y, kind)
            y += 13
    return str(drawing)


def exceedance(curves, title):
    """Curves (name, ours?, deviations): the share of ticks that are further off than so many microseconds."""
    axis = LogAxis(0.1, max(max(values) for _, _, values in curves), 60, 600)
    shares = LogAxis(1e-4, 1, 330, 40)
    drawing = Drawing(760, 370)
    drawing.text(10, 20, title, kind="title")
    for value, name in axis.marks():
        drawing.line(axis(value), 40, axis(value), 330, "grid")
        drawing.text(axis(value), 348, name, "middle")
    for decade in range(-4, 1):
        drawing.line(60, shares(10.0**decade), 600, shares(10.0**decade), "grid")
        drawing.text(54, shares(10.0**decade) + 4, f"{100 * 10.0**decade:g} %", "end")
    limits = [10 ** (axis.decades[0] + step / 20) for step in range(20 * (axis.decades[1] - axis.decades[0]) + 1)]
    colours = iter(COLOURS)
    for place, (name, ours, values) in enumerate(curves):
        colour = "" if ours else next(colours, "#8c959f")
        beyond = [(limit, 1 - share) for limit, share in zip(limits, share_within(values, limits))]
        points = [(axis(limit), shares(share)) for limit, share in beyond if share > 0]
        last = (axis(max(values)), shares(max(1e-4, 1 / len(values))))
        drawing.curve([*points, last], "ours" if ours else "", colour)
        drawing.text(612, 60 + 22 * place, name, kind="ours-text" if ours else "", colour=colour)
    return str(drawing)
