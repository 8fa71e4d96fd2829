/** A cache of the last `size` to twice `size` entries. */
export interface RecentMap<V> {
  get(key: string): V | undefined
  set(key: string, value: V): void
}

export function recentMap<V>(size: number): RecentMap<V> {
  let [young, old] = [new Map<string, V>(), new Map<string, V>()]
  return {
    get(key) {
      const found = young.get(key)
      if (found !== undefined) return found
      const older = old.get(key)
      if (older !== undefined) this.set(key, older)
      return older
    },
    set(key, value) {
      if (young.size >= size) [young, old] = [new Map(), young]
      young.set(key, value)
    },
  }
}
