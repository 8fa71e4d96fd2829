/** Values by path, where all that is below a path can be dropped or found at once. The empty path is the root. */
export interface PathTree<T> {
  get(path: string): T | undefined
  set(path: string, value: T): void
  /** Forgets a path and all below it. */
  drop(path: string): void
  /** The path itself, or the nearest above it, that has a value. */
  nearest(path: string): string | undefined
  /** All below a path that have a value; not the path itself. */
  below(path: string): string[]
}

interface Place<T> {
  value?: T
  children?: Map<string, Place<T>>
}

export function createPathTree<T>(): PathTree<T> {
  const root: Place<T> = {}

  function find(path: string): Place<T> | undefined {
    let place: Place<T> | undefined = root
    for (const name of names(path)) {
      place = place.children?.get(name)
      if (!place) return
    }
    return place
  }

  return {
    get: (path) => find(path)?.value,

    set(path, value) {
      let place = root
      for (const name of names(path)) {
        place.children ??= new Map()
        const next: Place<T> = place.children.get(name) ?? {}
        place.children.set(name, next)
        place = next
      }
      place.value = value
    },

    drop(path) {
      if (path === '') {
        delete root.value
        delete root.children
        return
      }
      const slash = path.lastIndexOf('/')
      const parent = find(slash < 0 ? '' : path.slice(0, slash))
      parent?.children?.delete(path.slice(slash + 1))
    },

    nearest(path) {
      let found = root.value === undefined ? undefined : ''
      let place: Place<T> | undefined = root
      let walked = ''
      for (const name of names(path)) {
        place = place.children?.get(name)
        if (!place) break
        walked = walked === '' ? name : `${walked}/${name}`
        if (place.value !== undefined) found = walked
      }
      return found
    },

    below(path) {
      const found: string[] = []
      const place = find(path)
      if (place) collect(place, path, found)
      return found
    },
  }
}

function names(path: string) {
  return path === '' ? [] : path.split('/')
}

function collect<T>({ children }: Place<T>, path: string, found: string[]) {
  for (const [name, child] of children ?? []) {
    const here = path === '' ? name : `${path}/${name}`
    if (child.value !== undefined) found.push(here)
    collect(child, here, found)
  }
}
