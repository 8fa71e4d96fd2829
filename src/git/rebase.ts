import { Refusal } from '#platform/errors.ts'
import { emptyTree } from './changes.ts'
import { joinTrees, lines, type Merged, readTrees } from './merge-tree.ts'
import type { Draft, Scratch } from './scratch.ts'

/** Limit of commits in one rebase. */
const most = 1000
const readLimit = 1 << 26

interface Step extends Draft {
  sha: string
  tree_before: string
}

/** Applies the commits of `head` that `base` does not have, one by one. Skips merges and commits that change nothing. */
export async function rebase(scratch: Scratch, base: string, head: string, committer: string): Promise<Merged> {
  const shas = await listCommits(scratch, base, head)
  if (shas.length > most) throw new Refusal('invalid', `No more than ${most} commits can be rebased at once.`)
  const [steps, [base_tree = '']] = await Promise.all([readSteps(scratch, shas), readTrees(scratch, [base])])
  let [onto, tree] = [base, base_tree]
  for (const step of steps) {
    const joined = tree === step.tree_before ? { tree: step.tree } : await apply(scratch, step, tree)
    if ('conflict' in joined) return joined
    if (joined.tree === tree) continue
    tree = joined.tree
    onto = await scratch.write({ ...step, tree, parents: [onto], committer })
  }
  return onto === base ? { nothing: true } : { sha: onto }
}

async function listCommits(scratch: Scratch, base: string, head: string) {
  const args = [
    'rev-list',
    '--reverse',
    '--topo-order',
    '--no-merges',
    `--max-count=${most + 1}`,
    '--end-of-options',
    head,
    `^${base}`,
  ]
  const { output } = await scratch.run(args)
  return output.toString().split('\n').filter(Boolean)
}

async function readSteps(scratch: Scratch, shas: string[]): Promise<Step[]> {
  const [{ output }, before] = await Promise.all([
    scratch.run(['cat-file', '--batch'], { input: lines(shas), limit: readLimit }),
    readTrees(
      scratch,
      shas.map((sha) => `${sha}^1`),
    ),
  ])
  let at = 0
  return shas.map((sha, index) => {
    const [header = '', size = ''] = /^[0-9a-f]{40} commit (\d+)\n/.exec(output.toString('latin1', at, at + 80)) ?? []
    const end = at + header.length + Number(size)
    if (!header || end > output.length) throw new Refusal('invalid', 'The messages of these commits are too long.')
    const commit = readStep(output.subarray(at + header.length, end))
    at = end + 1
    return { sha, tree_before: before[index] ?? emptyTree, ...commit }
  })
}

/** Drops the signature, because it is invalid for the new commit. */
function readStep(raw: Buffer): Draft {
  const text = raw.toString('latin1')
  const end = text.indexOf('\n\n')
  const head = (end < 0 ? text : text.slice(0, end)).split('\n')
  const all = (field: string) => head.flatMap((line) => (line.startsWith(`${field} `) ? [line.slice(field.length + 1)] : []))
  const [encoding] = all('encoding')
  const decode = reader(encoding)
  return {
    tree: all('tree')[0] ?? emptyTree,
    parents: all('parent'),
    author: readAuthor((decode ?? same)(all('author')[0] ?? '')),
    committer: '',
    more: encoding && !decode ? `encoding ${encoding}\n` : '',
    message: (decode ?? same)(end < 0 ? '' : text.slice(end + 2)),
  }
}

const same = (text: string) => text

/** Converts an encoding to UTF-8; undefined for unknown encodings. */
function reader(encoding: string | undefined) {
  if (encoding === undefined) return undefined
  try {
    const decoder = new TextDecoder(encoding)
    return (text: string) => Buffer.from(decoder.decode(Buffer.from(text, 'latin1'))).toString('latin1')
  } catch {
    return undefined
  }
}

/** Authors of pushed commits can lack an address or a time. Missing parts are empty. */
function readAuthor(line: string) {
  if (/^[^<>\n\0]* <[^<>\n\0]*> \d{1,12} [+-]\d{4}$/.test(line)) return line
  const [, name = '', email = '', seconds = '0'] = /^([^<>\n\0]*)<?([^<>\n\0]*)>?.*?(\d{1,12})?(?: [+-]\d+)?$/s.exec(line) ?? []
  return `${name.trim()} <${email.trim()}> ${seconds} +0000`
}

/** Merges with a temporary commit whose parents are the step's parents, so that only the step's own changes are applied. */
async function apply(scratch: Scratch, { sha, parents }: Step, tree: string) {
  // A late date, so that git visits this commit first and does not walk the history.
  const who = 'Belfry <> 4102444800 +0000'
  const ours = await scratch.write({ tree, parents, author: who, committer: who, message: '' })
  return joinTrees(scratch, ours, sha)
}
