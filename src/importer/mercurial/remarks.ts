import { isUtf8 } from 'node:buffer'
import { runGit, streamGit } from '#git/run-git.ts'
import { addRemark, maxRemarks, type Remark, type Workspace } from '#importer/source.ts'
import { stageLimit } from '#importer/staging/git.ts'

/** How many branches are searched. */
const maxBranches = 20

/** Subrepositories, which stay as the plain file `.hgsub`, and names that are not UTF-8, which stay as they are. */
export async function findRemarks({ repository, signal }: Workspace): Promise<Remark[]> {
  const remarks: Remark[] = []
  const list = ['for-each-ref', `--count=${maxBranches}`, '--format=%(refname)', 'refs/import/orig/heads/']
  const { output } = await runGit(repository, list, { signal, detached: false, limit: stageLimit })
  for (const branch of output.toString().split('\n').filter(Boolean)) {
    await findNames(repository, branch, remarks, signal)
    for (const [path, source] of await readSubrepositories(repository, branch, signal))
      addRemark(remarks, { what: 'subrepository', path, text: source })
  }
  return remarks
}

async function findNames(repository: string, branch: string, remarks: Remark[], signal: AbortSignal) {
  const list = ['ls-tree', '-r', '-z', '--name-only', branch]
  let rest: Buffer = Buffer.alloc(0)
  for await (const chunk of streamGit(repository, list, { signal, detached: false })) {
    const bytes = rest.length > 0 ? Buffer.concat([rest, chunk]) : chunk
    let at = 0
    for (let end = bytes.indexOf(0); end >= 0; end = bytes.indexOf(0, at)) {
      const name = bytes.subarray(at, end)
      if (!isUtf8(name) && remarks.length < maxRemarks)
        addRemark(remarks, { what: 'name that is not UTF-8', path: name.toString('latin1'), text: '' })
      at = end + 1
    }
    rest = bytes.subarray(at)
  }
}

/** Lines such as `lib = https://hg.example.com/lib` and `lib = [git]https://…`. */
async function readSubrepositories(repository: string, branch: string, signal: AbortSignal): Promise<[string, string][]> {
  const show = { signal, detached: false, limit: stageLimit, expected: [0, 128] }
  const { status, output } = await runGit(repository, ['cat-file', 'blob', `${branch}:.hgsub`], show)
  if (status !== 0) return []
  return output
    .toString()
    .replaceAll('\0', '')
    .split('\n')
    .filter((line) => !/^\s*([#;[]|$)/.test(line) && line.includes('='))
    .map((line) => {
      const at = line.indexOf('=')
      return [line.slice(0, at).trim(), line.slice(at + 1).trim()]
    })
}
