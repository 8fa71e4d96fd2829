/** A map by path, in which everything below a path can be found or dropped at once. The empty path is the root. */
export interface PathTree<T> {
  get(path: string): T | undefined
  set(path: string, value: T): void
  /** Drops a path and everything below it. */
  drop(path: string): void
  /** The path itself or its nearest ancestor that has a value. */
  nearest(path: string): string | undefined
  /** The paths below this one that have a value. */
  below(path: string): string[]
}

interface TreeNode<T> {
  value?: T
  children?: Map<string, TreeNode<T>>
}

export function createPathTree<T>(): PathTree<T> {
  const root: TreeNode<T> = {}

  function find(path: string): TreeNode<T> | undefined {
    let node: TreeNode<T> | undefined = root
    for (const name of names(path)) {
      node = node.children?.get(name)
      if (!node) return
    }
    return node
  }

  return {
    get: (path) => find(path)?.value,

    set(path, value) {
      let node = root
      for (const name of names(path)) {
        node.children ??= new Map()
        const next: TreeNode<T> = node.children.get(name) ?? {}
        node.children.set(name, next)
        node = next
      }
      node.value = value
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
      let node: TreeNode<T> | undefined = root
      let walked = ''
      for (const name of names(path)) {
        node = node.children?.get(name)
        if (!node) break
        walked = walked === '' ? name : `${walked}/${name}`
        if (node.value !== undefined) found = walked
      }
      return found
    },

    below(path) {
      const found: string[] = []
      const node = find(path)
      if (node) collect(node, path, found)
      return found
    },
  }
}

function names(path: string) {
  return path === '' ? [] : path.split('/')
}

function collect<T>({ children }: TreeNode<T>, path: string, found: string[]) {
  for (const [name, child] of children ?? []) {
    const here = path === '' ? name : `${path}/${name}`
    if (child.value !== undefined) found.push(here)
    collect(child, here, found)
  }
}
