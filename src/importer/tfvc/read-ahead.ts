export interface Bounds<Item> {
  /** The number of items started ahead. */
  width: number
  /** The greatest total weight of started items. One may always be started. */
  most?: number
  weigh?: (item: Item) => number
}

/** Starts work on the next items while the caller processes the former ones. Yields results in order. */
export async function* readAhead<Item, Result>(
  items: AsyncIterable<Item>,
  { width, most = Infinity, weigh = () => 0 }: Bounds<Item>,
  start: (item: Item) => Promise<Result>,
): AsyncGenerator<Result> {
  const started: { result: Promise<Result>; weight: number }[] = []
  const iterator = items[Symbol.asyncIterator]()
  let load = 0
  let next: Promise<IteratorResult<Item>> | undefined = pull(iterator)
  try {
    while (next || started.length > 0) {
      const [first] = started
      if (next && (!first || (started.length < width && load < most))) {
        const done = first?.result.then(nothing, nothing)
        const came: IteratorResult<Item> | undefined = await (done ? Promise.race([next, done]) : next)
        if (came?.done) next = undefined
        else if (came) {
          const result = start(came.value)
          // The caller gets the error with the result.
          result.catch(nothing)
          const weight = weigh(came.value)
          load += weight
          started.push({ result, weight })
          next = pull(iterator)
        }
        if (came) continue
      }
      if (!first) continue
      yield await first.result
      started.shift()
      load -= first.weight
    }
  } finally {
    // Not awaited, because it may be busy with the next item.
    iterator.return?.()?.then(nothing, nothing)
  }
}

function pull<Item>(iterator: AsyncIterator<Item>) {
  const next = iterator.next()
  next.catch(nothing)
  return next
}

function nothing() {
  return undefined
}
