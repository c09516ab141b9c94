// Greedy placement of labels: the most important first, beside its mark, and none over another.

export interface Wish {
  id: string;
  x: number; // px, where the mark is
  y: number;
  width: number; // px, of the text
  height: number;
  gap: number; // px from the mark's middle to the text
  priority: number; // larger is placed first; ties go by id
  required?: boolean; // shown beside its mark even if it covers marks; only another label keeps it out
  centred?: boolean; // over its place, as the name of a room, with no mark to keep clear of
}

export interface Box {
  x: number; // px, left
  y: number; // px, top
  width: number;
  height: number;
}

const CELL = 64; // px
export const MOST_LABELS = 400;

/** Boxes by square cells of the screen, so that a new one is compared with its neighbours alone. */
class Occupied {
  private readonly cells = new Map<number, Box[]>();

  free(box: Box): boolean {
    return this.around(box).every((boxes) => boxes.every((other) => !overlap(box, other)));
  }

  add(box: Box): void {
    for (const [key, boxes] of this.keys(box)) this.cells.set(key, [...boxes, box]);
  }

  private around(box: Box): Box[][] {
    return this.keys(box).map(([, boxes]) => boxes);
  }

  private keys(box: Box): [number, Box[]][] {
    const found: [number, Box[]][] = [];
    for (let row = Math.floor(box.y / CELL); row <= Math.floor((box.y + box.height) / CELL); row++) {
      for (let column = Math.floor(box.x / CELL); column <= Math.floor((box.x + box.width) / CELL); column++) {
        const key = row * 4096 + column;
        found.push([key, this.cells.get(key) ?? []]);
      }
    }
    return found;
  }
}

export function overlap(one: Box, other: Box): boolean {
  return (
    one.x < other.x + other.width &&
    other.x < one.x + one.width &&
    one.y < other.y + other.height &&
    other.y < one.y + one.height
  );
}

/**
 * Place as many labels as find room within `width` x `height` px, at most `MOST_LABELS`. `taken` are boxes that no label may cover.
 * `before` holds the sides of the last placement: a label stays on its side where it can, so that it does not jump.
 */
export function placeLabels(
  wishes: readonly Wish[],
  width: number,
  height: number,
  taken: readonly Box[] = [],
  before: ReadonlyMap<string, number> = new Map(),
): { boxes: Map<string, Box>; sides: Map<string, number> } {
  const occupied = new Occupied();
  taken.forEach((box) => occupied.add(box));
  const boxes = new Map<string, Box>();
  const sides = new Map<string, number>();
  const ordered = [...wishes].sort((one, other) => other.priority - one.priority || (one.id < other.id ? -1 : 1));
  for (const wish of ordered) {
    if (boxes.size >= MOST_LABELS) break;
    const choices = candidates(wish);
    const first = before.get(wish.id) ?? 0;
    for (let turn = 0; turn < choices.length; turn++) {
      const side = turn === 0 ? first % choices.length : turn <= first ? turn - 1 : turn;
      const box = choices[side]!;
      if (box.x < 0 || box.y < 0 || box.x + box.width > width || box.y + box.height > height) continue;
      if (!occupied.free(box)) continue;
      occupied.add(box);
      boxes.set(wish.id, box);
      sides.set(wish.id, side);
      break;
    }
    if (!wish.required || boxes.has(wish.id)) continue;
    const inside = choices.map((box) => ({ ...box, x: clamp(box.x, width - box.width), y: clamp(box.y, height - box.height) }));
    const box = inside.find((one) => [...boxes.values()].every((other) => !overlap(one, other)));
    if (!box) continue;
    occupied.add(box);
    boxes.set(wish.id, box);
  }
  return { boxes, sides };
}

const clamp = (value: number, most: number): number => Math.max(0, Math.min(value, most));

function candidates(wish: Wish): Box[] {
  const { x, y, width, height, gap } = wish;
  const box = (left: number, top: number): Box => ({ x: left, y: top, width, height });
  if (wish.centred) return [0, -1, 1].map((step) => box(x - width / 2, y - height / 2 + step * height));
  return [
    box(x + gap, y - height / 2),
    box(x - gap - width, y - height / 2),
    box(x - width / 2, y - gap - height),
    box(x - width / 2, y + gap),
  ];
}
