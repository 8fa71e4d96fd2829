const width = 20

export const nullNode = Buffer.alloc(width)

/** `room` is the initial capacity, a power of two. */
export function openNodeTable(room = 1024) {
  let ids = Buffer.alloc(room * width)
  let groups = new Uint32Array(room)
  // Numbers plus 1; 0 is a free slot.
  let slots = new Uint32Array(room * 2)
  let size = 0

  function seek(id: Buffer, group: number): number {
    let slot = hash(id, group) & (slots.length - 1)
    for (;;) {
      const number = (slots[slot] as number) - 1
      if (number < 0 || (groups[number] === group && isAt(id, number * width))) return slot
      slot = (slot + 1) & (slots.length - 1)
    }
  }

  /** A loop is faster than Buffer.compare for so few bytes. */
  function isAt(id: Buffer, at: number): boolean {
    let same = 0
    while (same < width && ids[at + same] === id[same]) same++
    return same === width
  }

  function grow() {
    ids = Buffer.concat([ids], ids.length * 2)
    const before = groups
    groups = new Uint32Array(before.length * 2)
    groups.set(before)
    slots = new Uint32Array(slots.length * 2)
    for (let number = 0; number < size; number++) {
      let slot = hash(ids.subarray(number * width, (number + 1) * width), groups[number] as number) & (slots.length - 1)
      while (slots[slot] !== 0) slot = (slot + 1) & (slots.length - 1)
      slots[slot] = number + 1
    }
  }

  return {
    get size() {
      return size
    },
    add(id: Buffer, group = 0) {
      if (size === groups.length) grow()
      const slot = seek(id, group)
      if (slots[slot] !== 0) return (slots[slot] as number) - 1
      id.copy(ids, size * width, 0, width)
      groups[size] = group
      slots[slot] = ++size
      return size - 1
    },
    /** The number, or -1. */
    find(id: Buffer, group = 0) {
      return (slots[seek(id, group)] as number) - 1
    },
    id: (number: number) => ids.subarray(number * width, (number + 1) * width),
  }
}

/**
 * A table of revision ids, numbered from 0 in the order of their addition. Groups are separate name spaces. It takes about forty bytes per
 * id, a third of a Map.
 */
export type NodeTable = ReturnType<typeof openNodeTable>

function hash(id: Buffer, group: number): number {
  return (id.readUInt32LE(0) ^ Math.imul(id.readUInt32LE(4), 0x85ebca6b) ^ Math.imul(group, 0x9e3779b1)) >>> 0
}
