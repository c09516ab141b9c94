// Places in the map frame.

export type Point2 = [number, number]; // m
export type Pose2 = [number, number, number]; // m, m, rad

/** Whether a point lies within a polygon, by the number of edges to its right. */
export function within([x, y]: Point2, outline: readonly Point2[]): boolean {
  let inside = false;
  for (let index = 0; index < outline.length; index++) {
    const [ax, ay] = outline[index]!;
    const [bx, by] = outline[(index + 1) % outline.length]!;
    if (ay > y !== by > y && x < ((bx - ax) * (y - ay)) / (by - ay) + ax) inside = !inside;
  }
  return inside;
}

/** Area of a polygon in the square of its unit. */
export function areaOf(outline: readonly Point2[]): number {
  let twice = 0;
  for (let index = 0; index < outline.length; index++) {
    const [ax, ay] = outline[index]!;
    const [bx, by] = outline[(index + 1) % outline.length]!;
    twice += ax * by - bx * ay;
  }
  return Math.abs(twice) / 2;
}

/** Why it cannot be told what lies within an outline that a person draws; "" = it can. The world model refuses the same. */
export function outlineFault(outline: readonly Point2[]): string {
  const count = outline.length;
  if (outline.some((one, index) => outline.findIndex((other) => same(one, other)) < index)) return "two corners lie in one place; take one back";
  for (let one = 0; one < count; one++) {
    const [a, b] = [outline[one]!, outline[(one + 1) % count]!];
    for (let other = one + 1; other < count; other++) {
      const [c, d] = [outline[other]!, outline[(other + 1) % count]!];
      const next = other === one + 1 || (one === 0 && other === count - 1);
      if (next ? count > 2 && folded(a, b, c, d) : meet(a, b, c, d)) return "the outline crosses itself; take a corner back";
    }
  }
  return "";
}

const same = ([ax, ay]: Point2, [bx, by]: Point2): boolean => ax === bx && ay === by;

/** On which side of the line from a to b a point lies: 1, 0 or -1. */
const side = ([ax, ay]: Point2, [bx, by]: Point2, [x, y]: Point2): number => Math.sign((bx - ax) * (y - ay) - (by - ay) * (x - ax));

/** Whether two segments share a point. */
function meet(a: Point2, b: Point2, c: Point2, d: Point2): boolean {
  const near = (axis: 0 | 1): boolean =>
    Math.min(a[axis], b[axis]) <= Math.max(c[axis], d[axis]) && Math.min(c[axis], d[axis]) <= Math.max(a[axis], b[axis]);
  return near(0) && near(1) && side(a, b, c) * side(a, b, d) <= 0 && side(c, d, a) * side(c, d, b) <= 0;
}

/** Whether two edges that share a corner, in either order, run back over each other. */
function folded(a: Point2, b: Point2, c: Point2, d: Point2): boolean {
  const forward = (b[0] - a[0]) * (d[0] - c[0]) + (b[1] - a[1]) * (d[1] - c[1]);
  return forward < 0 && side(a, b, same(b, c) ? d : c) === 0;
}
