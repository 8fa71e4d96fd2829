import { hash } from 'node:crypto'
import { extname, join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { ByteCache } from '#platform/byte-cache.ts'
import { Html, html } from '#web/html.ts'
import { highlightLanguage, namedLanguage } from './languages.ts'
import type { HighlightJob } from './worker.ts'

/**
 * Limits in characters. 512 KB of TypeScript take about a second of one core. A minified line takes as long as a file, and nobody reads its colours.
 */
const longestText = 512 * 1024
const longestLine = 5000
/** Milliseconds. Some grammars take quadratic time for certain texts; such a text is shown without colours. */
const patience = 1500
/** Jobs that may wait for the worker. Further texts are shown without colours. */
const mostWaiting = 16
/** Milliseconds until a worker without jobs ends, because it takes 15 MB. */
const idleTime = 30_000

/** Highlighted texts by a key of their contents. The empty text stands for one that took too long. */
const kept = new ByteCache<string>(16 << 20)

/**
 * The lines of a text as markup, highlighted if the name of its file says in which language it is. `key` identifies the text, such as the
 * id of its blob.
 */
export async function highlightLines(key: string, path: string, text: string): Promise<Html[]> {
  const shown = text.replace(/\r?\n$/, '')
  const language = highlightLanguage(path)
  const marked = language && (await highlight(key, language, shown))
  return marked ? splitMarkup(marked) : shown.split('\n').map((line) => html`${line}`)
}

/** Code blocks of one text that are highlighted. */
const mostBlocks = 50

/** The code blocks whose language is known, highlighted. */
export async function highlightBlocks<Block extends { language: string; text: string }>(
  blocks: Block[],
): Promise<Map<Block, Html>> {
  const found = new Map<Block, Html>()
  for (const block of blocks.slice(0, mostBlocks)) {
    const language = namedLanguage(block.language)
    const marked = language && (await highlight(hash('sha1', block.text), language, block.text))
    if (marked) found.set(block, new Html(marked))
  }
  return found
}

/** Undefined or empty if the text has no colours. */
async function highlight(key: string, language: string, text: string): Promise<string | undefined> {
  if (text.length > longestText || text.split('\n').some(({ length }) => length > longestLine)) return undefined
  const name = `${language} ${key}`
  const marked = kept.get(name) ?? (await runJob({ text, language }))
  if (marked !== undefined) kept.set(name, marked, 2 * marked.length + 100)
  return marked
}

/** A token may go over several lines, such as a comment. Each line gets its own elements. */
function splitMarkup(markup: string): Html[] {
  const lines: Html[] = []
  const open: string[] = []
  let line = ''
  let from = 0
  for (const { 0: found, index } of markup.matchAll(/<span[^<>]*>|<\/span>|\n/g)) {
    line += markup.slice(from, index)
    from = index + found.length
    if (found === '\n') {
      lines.push(new Html(line + '</span>'.repeat(open.length)))
      line = open.join('')
    } else {
      line += found
      if (found === '</span>') open.pop()
      else open.push(found)
    }
  }
  return [...lines, new Html(line + markup.slice(from))]
}

/** TypeScript in a checkout, JavaScript in the package. */
const program = join(import.meta.dirname, `worker${extname(import.meta.filename)}`)
let worker: Worker | undefined
let idle: NodeJS.Timeout | undefined
let waiting = 0
let last: Promise<unknown> = Promise.resolve()

/** Runs one job after the other. Undefined if too many wait; the empty text if the job took too long or failed. */
async function runJob(job: HighlightJob): Promise<string | undefined> {
  if (waiting >= mostWaiting) return undefined
  waiting++
  const result = last.then(() => runNow(job))
  last = result
  return result.finally(() => {
    waiting--
  })
}

function runNow(job: HighlightJob): Promise<string> {
  clearTimeout(idle)
  worker ??= startWorker()
  const current = worker
  return new Promise((resolve) => {
    const end = (marked: string) => {
      clearTimeout(timer)
      current.removeAllListeners('message').removeAllListeners('error')
      current.unref()
      if (marked === '') stopWorker(current)
      else idle = setTimeout(() => stopWorker(current), idleTime).unref()
      resolve(marked)
    }
    const timer = setTimeout(end, patience, '')
    current.once('message', end).once('error', () => end(''))
    current.ref()
    current.postMessage(job)
  })
}

/** A thread of its own, so that a slow grammar does not stop other requests. */
function startWorker() {
  return new Worker(program, { resourceLimits: { maxOldGenerationSizeMb: 96 } })
}

function stopWorker(ended: Worker) {
  if (worker === ended) worker = undefined
  void ended.on('error', () => {}).terminate()
}
