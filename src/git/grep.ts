import { type Reading, runGit } from './run-git.ts'

/** In bytes: the names of about a hundred thousand files. */
const longestNames = 1 << 23

/** The text files of a commit that contain all of these texts, in any case, by path. */
export async function grepFiles({ path, ...bounds }: Reading, sha: string, texts: string[]): Promise<string[]> {
  const args = ['grep', '-I', '-i', '-F', '-l', '-z', '--threads=1', '--full-name', '--all-match']
  const { output } = await runGit(path, [...args, ...alternatives(texts), sha, '--'], {
    ...bounds,
    limit: longestNames,
    expected: [0, 1],
  })
  return names(output).map((name) => name.slice(sha.length + 1))
}

/** All files of a commit. */
export async function listFiles({ path, ...bounds }: Reading, sha: string): Promise<string[]> {
  const { output } = await runGit(path, ['ls-tree', '-r', '-z', '--name-only', '--full-tree', sha], {
    ...bounds,
    limit: longestNames,
  })
  return names(output)
}

/** The last name may have been cut by the limit. */
const names = (output: Buffer) => output.toString().split('\0').slice(0, -1)

export interface BlobEntry {
  path: string
  sha: string
}

export async function readBlobIds({ path, ...bounds }: Reading, sha: string, paths: string[]): Promise<BlobEntry[]> {
  if (!paths.length) return []
  const args = ['--literal-pathspecs', 'ls-tree', '-r', '-z', '--full-tree', sha, '--', ...paths]
  const { output } = await runGit(path, args, { ...bounds, limit: longestNames })
  return names(output).flatMap((line) => {
    const [, blob = '', name = ''] = /^\d+ blob (\w+)\t(.+)$/s.exec(line) ?? []
    return name ? [{ path: name, sha: blob }] : []
  })
}

const linesOfFile = 3
const longestLines = 1 << 20

/** The first lines of each of these files that contain one of the texts. */
export async function grepLines(
  { path, ...bounds }: Reading,
  sha: string,
  texts: string[],
  paths: string[],
): Promise<Map<string, string>> {
  const found = new Map<string, string>()
  if (!paths.length) return found
  const args = ['--literal-pathspecs', 'grep', '-I', '-i', '-F', '-z', '--threads=1', '--full-name', `--max-count=${linesOfFile}`]
  const { output } = await runGit(path, [...args, ...alternatives(texts), sha, '--', ...paths], {
    ...bounds,
    limit: longestLines,
    expected: [0, 1],
  })
  for (const { name, line } of readMatches(output.toString())) {
    const file = name.slice(sha.length + 1)
    const known = found.get(file)
    found.set(file, known === undefined ? line : `${known}\n${line}`)
  }
  return found
}

/** Each match is a name, a null character and a line. The last one is left out if the limit has cut it. */
function* readMatches(text: string) {
  let from = 0
  for (;;) {
    const nameEnd = text.indexOf('\0', from)
    const lineEnd = nameEnd < 0 ? -1 : text.indexOf('\n', nameEnd)
    if (lineEnd < 0) return
    yield { name: text.slice(from, nameEnd), line: text.slice(nameEnd + 1, lineEnd) }
    from = lineEnd + 1
  }
}

const alternatives = (texts: string[]) => texts.flatMap((text, index) => (index ? ['--or', '-e', text] : ['-e', text]))
