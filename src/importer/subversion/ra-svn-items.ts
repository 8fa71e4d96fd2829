/** An item of the protocol of svn:// servers: a number, string, word or list. */
export type Item = number | string | Word | Item[]
export interface Word {
  word: string
}

/** Not a Subversion server, or no repository at this address. */
export class NoRepository extends Error {}

/** The limits of one item with all that is in it. A folder with 400,000 files takes 40 MB and four million items. */
const maxBytes = 64 << 20
const maxItems = 4_000_000
/** An entry of a folder is at depth 5. */
const maxDepth = 16
/** In bytes. The longest string is a property. */
const maxString = 16 << 20

/** Parses complete items. Each is followed by a space or a line end. */
export function openParser(give: (item: Item) => void) {
  const open: Item[][] = []
  let here: Buffer = Buffer.alloc(0)
  /** What arrived since the last parsed byte, and how many bytes the next item needs: a long string is not copied with each chunk. */
  let waiting: Buffer[] = []
  let size = 0
  let needed = 0
  /** Of the outermost list. */
  let [bytes, items] = [0, 0]

  function put(item: Item) {
    if (++items > maxItems) throw new NoRepository()
    const list = open.at(-1)
    if (list) list.push(item)
    else {
      give(item)
      bytes = items = 0
    }
  }

  function close() {
    const list = open.pop()
    if (!list) throw new NoRepository()
    put(list)
  }

  /** Returns where the string ends. */
  function takeString(start: number, length: number): number {
    if (length > maxString) throw new NoRepository()
    const end = start + length
    if (end < here.length) put(here.toString('utf8', start, end))
    return end
  }

  return (chunk: Buffer) => {
    waiting.push(chunk)
    size += chunk.length
    bytes += chunk.length
    if (bytes > maxBytes) throw new NoRepository()
    if (size <= needed) return
    here = waiting.length > 1 ? Buffer.concat(waiting) : chunk
    let at = 0
    needed = 0
    for (;;) {
      while (here[at] === 32 || here[at] === 10) at++
      const first = here[at]
      let end = at + 1
      while (end < here.length && !ends(here[end])) end++
      if (end - at > longestToken) throw new NoRepository()
      if (first === undefined || end >= here.length) break
      if (first === 40) {
        if (open.push([]) > maxDepth) throw new NoRepository()
      } else if (first === 41) close()
      else if (first >= 48 && first <= 57) {
        const number = numberIn(here, at, end)
        if (here[end] !== 58) put(number)
        else {
          end = takeString(end + 1, number)
          if (end >= here.length) {
            needed = end - at
            break
          }
        }
      } else put(wordIn(here, at, end))
      at = end + 1
    }
    here = here.subarray(at)
    waiting = here.length > 0 ? [here] : []
    size = here.length
  }
}

/** A space, a line end, or the colon after the length of a string. */
const ends = (byte: number | undefined) => byte === 32 || byte === 10 || byte === 58
const longestToken = 100

function numberIn(bytes: Buffer, at: number, end: number): number {
  let number = 0
  for (let place = at; place < end; place++) {
    const digit = (bytes[place] ?? 0) - 48
    if (digit < 0 || digit > 9) throw new NoRepository()
    number = number * 10 + digit
  }
  if (number > Number.MAX_SAFE_INTEGER) throw new NoRepository()
  return number
}

/** Caches the last word by length and first letter, because few words are repeated often. */
const wordCache = new Map<number, { bytes: Buffer; word: Word }>()

function wordIn(here: Buffer, at: number, end: number): Word {
  const key = (end - at) * 256 + (here[at] ?? 0)
  const last = wordCache.get(key)
  if (last?.bytes.every((byte, place) => byte === here[at + place])) return last.word
  const bytes = Buffer.from(here.subarray(at, end))
  const word = { word: bytes.toString('latin1') }
  if (!/^[\w-]+$/.test(word.word)) throw new NoRepository()
  wordCache.set(key, { bytes, word })
  return word
}

export function isWord(item: Item | undefined, word: string) {
  return typeof item === 'object' && 'word' in item && item.word === word
}
