import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { promisify } from 'node:util'
import { needs } from '#test/needs.ts'

needs({ svnadmin: 'subversion' })

type Content = string | Buffer
type Properties = Record<string, string>
type CopyOptions = { kind?: 'file' | 'dir'; replace?: boolean; content?: Content }

/** Builds a Subversion dump for `svnadmin load`. Changes belong to the next commit. */
export type History = ReturnType<typeof openHistory>['history']

export const uuid = '6c5b8a1e-4000-4000-8000-000000001001'
export const runs: Properties = { 'svn:executable': '*' }
export const linked: Properties = { 'svn:special': '*' }

/** Makes a repository from a history. */
export async function makeSvnRepository(path: string, write: (history: History) => void) {
  const { history, dump } = openHistory()
  write(history)
  const run = promisify(execFile)
  await run('svnadmin', ['create', '--compatible-version', '1.9', path])
  const loading = run('svnadmin', ['load', '--quiet', '--bypass-prop-validation', '--no-flush-to-disk', path])
  loading.child.stdin?.end(Buffer.concat(dump))
  await loading
  return history.head()
}

function openHistory() {
  const dump: Buffer[] = [Buffer.from(`SVN-fs-dump-format-version: 2\n\nUUID: ${uuid}\n\n`)]
  const nodes: Buffer[] = []
  let number = 0
  writeRevision({})

  function writeRevision(properties: Record<string, Content>) {
    const block = propertyBlock(properties)
    dump.push(
      Buffer.from(`Revision-number: ${number}\nProp-content-length: ${block.length}\nContent-length: ${block.length}\n\n`),
    )
    dump.push(block, Buffer.from('\n'), ...nodes.splice(0))
  }

  function node(path: string, head: string[], properties?: Properties, content?: Content) {
    const block = properties && propertyBlock(properties)
    const text = content === undefined ? undefined : Buffer.from(content as string)
    const lines = [`Node-path: ${path}`, ...head]
    if (block) lines.push(`Prop-content-length: ${block.length}`)
    if (text) {
      const md5 = createHash('md5').update(text).digest('hex')
      lines.push(`Text-content-length: ${text.length}`, `Text-content-md5: ${md5}`)
    }
    if (block || text) lines.push(`Content-length: ${(block?.length ?? 0) + (text?.length ?? 0)}`)
    nodes.push(Buffer.from(`${lines.join('\n')}\n\n`), block ?? Buffer.alloc(0), text ?? Buffer.alloc(0), Buffer.from('\n\n'))
  }

  const history = {
    folder: (path: string, properties: Properties = {}) => node(path, ['Node-kind: dir', 'Node-action: add'], properties),
    add: (path: string, content: Content, properties: Properties = {}) =>
      node(path, ['Node-kind: file', 'Node-action: add'], properties, content),
    /** Without properties, they stay unchanged. */
    change: (path: string, content: Content, properties?: Properties) =>
      node(path, ['Node-kind: file', 'Node-action: change'], properties, content),
    /** Sets all properties of a file or folder. */
    describe: (path: string, kind: 'file' | 'dir', properties: Properties) =>
      node(path, [`Node-kind: ${kind}`, 'Node-action: change'], properties),
    replace: (path: string, content: Content, properties: Properties = {}) =>
      node(path, ['Node-kind: file', 'Node-action: replace'], properties, content),
    remove: (path: string) => node(path, ['Node-action: delete']),
    copy(from: string, revision: number, to: string, { kind = 'dir', replace = false, content }: CopyOptions = {}) {
      const action = `Node-action: ${replace ? 'replace' : 'add'}`
      const source = [`Node-copyfrom-rev: ${revision}`, `Node-copyfrom-path: ${from}`]
      node(to, [`Node-kind: ${kind}`, action, ...source], undefined, content)
    },
    /** Returns the number of the revision. */
    commit(message: Content | null, author: string | null = 'ada') {
      number++
      const date = new Date(Date.UTC(2010, 0, 1) + number * 3_600_000).toISOString().replace('Z', '123Z')
      const named = author === null ? {} : { 'svn:author': author }
      writeRevision({ ...(message !== null && { 'svn:log': message }), ...named, 'svn:date': date })
      return number
    },
    /** The number of the last revision. */
    head: () => number,
  }
  return { history, dump }
}

function propertyBlock(properties: Record<string, Content>) {
  const parts = Object.entries(properties).flatMap(([name, value]) => {
    const bytes = Buffer.from(value as string)
    return [Buffer.from(`K ${Buffer.byteLength(name)}\n${name}\nV ${bytes.length}\n`), bytes, Buffer.from('\n')]
  })
  return Buffer.concat([...parts, Buffer.from('PROPS-END\n')])
}
