import { connectTo } from '#importer/subversion/connection.ts'
import { readHistory } from '#importer/subversion/history.ts'
import { settlePlan } from '#importer/subversion/plan.ts'
import { openEgress } from '#platform/outbound/egress.ts'
import { readPolicy } from '#platform/outbound/policy.ts'
import { originOf } from './workspace.ts'

/** A program that imports a repository into a folder, and is killed half-way. */
const [url = '', folder = '', made] = process.argv.slice(2)
const egress = await openEgress(readPolicy('loopback'))
const origin = { ...originOf(url), svn_ignore: made === 'ignores', gitattributes: made === 'attributes' }
const workspace = {
  folder,
  history: folder,
  repository: `${folder}/stage.git`,
  lfs_store: `${folder}/lfs`,
  default_branch: 'main',
  egress,
  signal: new AbortController().signal,
  onProgress({ percent = 0 }) {
    if (percent >= 50) process.kill(process.pid, 'SIGKILL')
  },
}
const connection = await connectTo(origin, workspace, folder)
const { plan, repository } = await settlePlan(origin, connection, workspace)
await readHistory(plan, repository, connection, workspace, { revisions: 4, milliseconds: 60_000 })
