import { readFileSync } from 'node:fs'
import { git } from '#git/git.ts'
import { convert } from '#importer/tfvc/convert.ts'
import { openEgress } from '#platform/outbound/egress.ts'
import { readPolicy } from '#platform/outbound/policy.ts'

/** Converts in a process that can be killed. Its arguments are an address and the folder of a workspace. */
const [url = '', folder = ''] = process.argv.slice(2)
const repository = `${folder}/stage.git`
await git(['init', '--quiet', '--bare', repository])
const egress = await openEgress(readPolicy('loopback'))
const { commit_count } = await convert(
  { url, username: null, password: null, svn_root: null, tfvc_project: null },
  {
    folder,
    history: folder,
    repository,
    lfs_store: `${folder}/lfs`,
    default_branch: 'main',
    egress,
    signal: new AbortController().signal,
    onProgress: () => {},
  },
  { changesets: 50, milliseconds: 60_000 },
)
await egress[Symbol.asyncDispose]()
// Not maxRSS, which starts with that of the parent.
const [, kilobytes] = /VmHWM:\s+(\d+)/.exec(readFileSync('/proc/self/status', 'utf8')) ?? []
process.stdout.write(JSON.stringify({ commit_count, megabytes: Math.round(Number(kilobytes) / 1024) }))
