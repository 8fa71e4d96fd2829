import { createHash, hash } from 'node:crypto'
import type { Note } from '#importer/notes.ts'
import { ImportFailure } from '#importer/source.ts'
import { type FastImport, quotePath } from '#importer/staging/fast-import.ts'
import { largeFile } from '#importer/staging/large-files.ts'
import { createPathTree } from '#importer/staging/path-tree.ts'
import { isForbiddenLink, isForbiddenPath } from '#importer/staging/paths.ts'
import type { Checkpoint } from './checkpoint.ts'
import type { Dump, DumpRecord, Properties } from './dump.ts'
import type { CopySource, PropertyTracker } from './ignore-lists.ts'
import { applyDelta, applyDeltaInPieces, measureDelta } from './svndiff.ts'
import { maxInMemory, streamBlob, type Text, type TextCache, viewOf } from './text-cache.ts'

interface File {
  mode: string
  id: string
}

const link = Buffer.from('link ')
/** In paths. The rest is looked up in git. */
const maxKnown = 200_000
/** In bytes. Longer deltas are streamed. */
const longDelta = 1 << 20

/** Writes the changes of paths into the open commit. */
export function openNodeWriter(
  git: FastImport,
  dump: Dump,
  texts: TextCache,
  checkpoint: Checkpoint,
  trackers: PropertyTracker[],
) {
  const { notes, large } = checkpoint
  let known = createPathTree<File>()
  let remembered = 0

  async function apply(record: DumpRecord) {
    const { headers, properties } = record
    const path = headers.get('Node-path') ?? ''
    const action = headers.get('Node-action')
    if (path === '') return track(record, undefined)
    if (isForbidden(path)) {
      if (headers.get('Node-kind') === 'file' && action !== 'change') count('paths that git cannot keep')
      return
    }
    const from = sourceOf(headers)
    await track(record, from)
    if (action === 'delete' || action === 'replace') {
      known.drop(path)
      await git.write(`D ${quotePath(path)}\n`)
    }
    if (action === 'delete') return
    const copied = from && (await copy(path, from))
    if (headers.get('Node-kind') === 'dir') return
    await writeFile(
      path,
      copied ?? (action === 'change' ? await look(path) : undefined),
      action !== 'change',
      headers,
      properties,
    )
  }

  async function track(record: DumpRecord, from: CopySource | undefined) {
    for (const tracker of trackers) await tracker.read(record, from)
  }

  /** Undefined if the source is forbidden in git, or newer than the last commit. */
  function sourceOf(headers: Map<string, string>): CopySource | undefined {
    const path = headers.get('Node-copyfrom-path')
    const number = Number(headers.get('Node-copyfrom-rev'))
    if (path === undefined || number === 0 || number > checkpoint.number || (path !== '' && isForbidden(path))) return
    return { number, path }
  }

  async function copy(path: string, from: CopySource): Promise<File | undefined> {
    const source = await git.ls(`:${from.number}`, from.path)
    known.drop(path)
    if (!source) return
    await git.write(`M ${source.mode} ${source.id} ${quotePath(path)}\n`)
    if (source.type !== 'blob') return
    remember(path, source)
    return source
  }

  async function look(path: string): Promise<File | undefined> {
    const file = known.get(path)
    if (file) return file
    const entry = await git.ls(undefined, path)
    return entry?.type === 'blob' ? entry : undefined
  }

  function remember(path: string, { mode, id }: File) {
    if (++remembered > maxKnown) {
      known = createPathTree()
      remembered = 0
    }
    known.set(path, { mode, id })
  }

  async function writeFile(
    path: string,
    former: File | undefined,
    fresh: boolean,
    headers: Map<string, string>,
    properties: Properties | undefined,
  ) {
    const mode = modeAfter(former?.mode, properties, headers.get('Prop-delta') === 'true')
    if (headers.has('Text-content-length')) {
      const text = await readText(path, former, headers)
      if (text) await writeText(path, mode, text)
    } else if (former && former.mode !== mode) {
      if (mode === '120000' || former.mode === '120000') await writeText(path, mode, await textOf(former))
      else {
        await git.write(`M ${mode} ${former.id} ${quotePath(path)}\n`)
        remember(path, { mode, id: former.id })
      }
    } else if (!former && fresh) await writeText(path, mode, { size: 0, bytes: Buffer.alloc(0) })
  }

  async function readText(path: string, former: File | undefined, headers: Map<string, string>): Promise<Text | undefined> {
    const wanted = headers.get('Text-content-md5')
    const differs = headers.get('Text-delta') === 'true'
    const short = dump.left() <= longDelta ? await dump.bytes(dump.left()) : undefined
    const measured = short && differs ? measureDelta(short) : undefined
    if (measured?.based && !former) {
      // The base was in a folder that is not imported.
      count('files without their beginning')
      return
    }
    if (short && measured && measured.size <= maxInMemory) {
      const { view, close } = viewOf(measured.based && former ? await textOf(former) : { size: 0, bytes: Buffer.alloc(0) })
      try {
        const bytes = applyDelta(short, view, measured.size)
        if (wanted !== undefined && hash('md5', bytes) !== wanted) throw damaged(path)
        return { size: bytes.length, bytes }
      } finally {
        close()
      }
    }
    const { md5, ...text } = await readLongText(former, differs, short)
    if (wanted !== undefined && md5 !== wanted) throw damaged(path)
    return text
  }

  async function readLongText(former: File | undefined, differs: boolean, start: Buffer | undefined) {
    async function* pieces() {
      if (start) yield start
      while (dump.left() > 0) yield await dump.some()
    }
    if (!differs) return texts.gather(pieces())
    let close = () => {}
    const prepare = async () => {
      const base = viewOf(former ? await textOf(former) : { size: 0, bytes: Buffer.alloc(0) })
      close = base.close
      return base.view
    }
    return texts.gather(applyDeltaInPieces(pieces(), prepare)).finally(() => close())
  }

  /** In Subversion's form, where a symbolic link begins with `link `. */
  async function textOf({ mode, id }: File): Promise<Text> {
    const text = await texts.read(id, git)
    if (mode !== '120000' || !('bytes' in text)) return text
    const bytes = Buffer.concat([link, text.bytes])
    return { size: bytes.length, bytes }
  }

  async function writeText(path: string, wanted: string, text: Text) {
    const linked = wanted === '120000' && 'bytes' in text && text.bytes.subarray(0, link.length).equals(link)
    const mode = wanted === '120000' && !linked ? '100644' : wanted
    if (linked && isForbiddenLink(path)) {
      known.drop(path)
      count('paths that git cannot keep')
      return git.write(`D ${quotePath(path)}\n`)
    }
    await git.write(`M ${mode} inline ${quotePath(path)}\n`)
    if ('file' in text) {
      const { chunks, id } = streamBlob(text)
      await git.data({ size: text.size, chunks })
      keep(path, mode, id(), text)
    } else {
      const bytes = linked ? text.bytes.subarray(link.length) : text.bytes
      await git.data(bytes)
      const id = createHash('sha1').update(`blob ${bytes.length}\0`).update(bytes).digest('hex')
      keep(path, mode, id, { size: bytes.length, bytes })
    }
  }

  function keep(path: string, mode: string, id: string, text: Text) {
    if (text.size > largeFile) large?.push({ id, size: text.size })
    remember(path, { mode, id })
    texts.keep(id, text)
  }

  function count(what: Note) {
    notes[what] = (notes[what] ?? 0) + 1
  }

  return { apply }
}

/** With `changes`, properties contains only those that changed. */
function modeAfter(former: string | undefined, properties: Properties | undefined, changes: boolean) {
  const has = (name: string, before: boolean) => {
    const value = properties?.get(name)
    return value === undefined ? before && (changes || !properties) : value !== null
  }
  if (has('svn:special', former === '120000')) return '120000'
  return has('svn:executable', former === '100755') ? '100755' : '100644'
}

function isForbidden(path: string) {
  return isForbiddenPath(Buffer.from(path).toString('latin1'))
}

function damaged(path: string) {
  return new ImportFailure(`The content of ${path} does not match the checksum of the Subversion server.`)
}
