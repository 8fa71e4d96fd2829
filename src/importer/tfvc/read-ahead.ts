export interface Bounds<Item> {
  /** How many are begun before the first of them is taken. */
  width: number
  /** What these may weigh together; one may always be begun. */
  most?: number
  weigh?: (item: Item) => number
}

/** Begins what comes next while somebody is busy with what came before. Gives results in order. */
export async function* readAhead<Item, Result>(
  items: AsyncIterable<Item>,
  { width, most = Infinity, weigh = () => 0 }: Bounds<Item>,
  begin: (item: Item) => Promise<Result>,
): AsyncGenerator<Result> {
  const begun: { result: Promise<Result>; weight: number }[] = []
  const iterator = items[Symbol.asyncIterator]()
  let load = 0
  let next: Promise<IteratorResult<Item>> | undefined = pull(iterator)
  try {
    while (next || begun.length > 0) {
      const [first] = begun
      if (next && (!first || (begun.length < width && load < most))) {
        const done = first?.result.then(nothing, nothing)
        const came: IteratorResult<Item> | undefined = await (done ? Promise.race([next, done]) : next)
        if (came?.done) next = undefined
        else if (came) {
          const result = begin(came.value)
          // Whoever takes it hears of it.
          result.catch(nothing)
          const weight = weigh(came.value)
          load += weight
          begun.push({ result, weight })
          next = pull(iterator)
        }
        if (came) continue
      }
      if (!first) continue
      yield await first.result
      begun.shift()
      load -= first.weight
    }
  } finally {
    // It may be busy with the next: that is not waited for.
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
