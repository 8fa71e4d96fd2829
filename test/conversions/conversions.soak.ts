import { parseArgs } from 'node:util'
import { checkConversions, findConversions, type Outcome } from './oracle.ts'

const usage = `npm run conversions -- DIR [--json] [--revisions N] [--keep-deleted] [--projects]

Converts every Subversion dump, Subversion repository and Mercurial repository in a folder, and compares each result with
svn export, hg archive and the log of the source. Exits with 1 if something differs.

  --revisions N   compare the files of at most N revisions besides all branches and tags (default 50)
  --keep-deleted  keep deleted and closed branches
  --projects      convert the projects of each Subversion repository in one go, also if they are folders of one trunk
  --json          print the outcomes as JSON`

async function main(): Promise<number> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      json: { type: 'boolean', default: false },
      revisions: { type: 'string', default: '50' },
      'keep-deleted': { type: 'boolean', default: false },
      projects: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  })
  const [folder, ...others] = positionals
  const revisions = Number(values.revisions)
  if (values.help) return print(usage, 0)
  if (folder === undefined || others.length > 0 || !Number.isInteger(revisions) || revisions < 1) return print(usage, 2)
  const found = await findConversions(folder)
  if (found.length === 0) return print(`There is no dump and no repository in ${folder}.`, 1)
  const outcomes: Outcome[] = []
  if (!values.json)
    process.stdout.write(`${row(['source', 'kind', 'revisions', 'refs', 'compared', 'left out', 'differences'])}\n`)
  const { 'keep-deleted': keep_deleted, projects } = values
  for await (const outcome of checkConversions(found, { revisions, keep_deleted, projects })) {
    outcomes.push(outcome)
    const { name, kind, refs, compared, left_out, differences } = outcome
    const cells = [name, kind, outcome.revisions, refs, compared, left_out.length, differences.length]
    if (!values.json) process.stdout.write([row(cells), ...differences.map((line) => `  ${line}`), ''].join('\n'))
  }
  if (values.json) process.stdout.write(`${JSON.stringify(outcomes, undefined, 2)}\n`)
  const differing = outcomes.filter(({ differences }) => differences.length > 0).length
  process.stderr.write(`${outcomes.length} converted, ${differing} differ.\n`)
  return differing > 0 ? 1 : 0
}

function print(text: string, status: number): number {
  const stream = status === 0 ? process.stdout : process.stderr
  stream.write(`${text}\n`)
  return status
}

function row(cells: (string | number)[]): string {
  const [name = '', kind = '', ...numbers] = cells.map(String)
  return [name.padEnd(40), kind.padEnd(11), ...numbers.map((number) => number.padStart(11))].join(' ')
}

process.exitCode = await main()
