/** Numbers from 0 to 1 that are the same for the same seed (mulberry32). */
export function openRandom(seed: number) {
  let state = seed
  const next = () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  return {
    pick: <T>(items: readonly T[]) => items[Math.floor(next() * items.length)] as T,
    shuffled: <T>(items: readonly T[]) =>
      items
        .map((item) => ({ item, key: next() }))
        .sort((one, other) => one.key - other.key)
        .map(({ item }) => item),
  }
}

export type Random = ReturnType<typeof openRandom>
