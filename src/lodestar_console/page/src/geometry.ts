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
