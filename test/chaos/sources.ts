import { openConversions, refsIn, startConvert } from '#test/imports/convert-command.ts'
import { type GitServer, startGitServer } from '#test/imports/git-server.ts'
import { makeSvnRepository } from '#test/imports/svn-dump.ts'
import type { Cluster, Node } from './cluster.ts'
import type { Recorder } from './recorder.ts'

const commits = 4
const revisions = 40

/** Imports and conversions, one of each in a round. */
export class Sources implements AsyncDisposable {
  readonly #cluster: Cluster
  readonly #recorder: Recorder
  readonly #git: GitServer
  readonly #conversions: Awaited<ReturnType<typeof openConversions>>
  readonly #undo: AsyncDisposableStack
  #made = 0
  #converting: ReturnType<typeof startConvert> | undefined
  /** What a conversion without a fault beside it gives. */
  #expected: string | undefined

  static async open(cluster: Cluster, recorder: Recorder) {
    await using undo = new AsyncDisposableStack()
    const git = undo.use(await startGitServer())
    const { work } = await git.make('source')
    for (let number = 1; number <= commits; number++) await work.commit(`Change ${number}`)
    await work.git('push', '--quiet', 'origin', 'main')
    const conversions = undo.use(await openConversions())
    await makeSvnRepository(conversions.out('svn'), (history) => {
      history.folder('trunk')
      for (const folder of ['branches', 'tags']) history.folder(folder)
      history.commit('Layout')
      for (let number = 1; number <= revisions; number++) {
        history.add(`trunk/${number}.txt`, `${number}\n`)
        history.commit(`Add ${number}`)
      }
    })
    return new Sources(cluster, recorder, git, conversions, undo.move())
  }

  constructor(
    cluster: Cluster,
    recorder: Recorder,
    git: GitServer,
    conversions: Awaited<ReturnType<typeof openConversions>>,
    undo: AsyncDisposableStack,
  ) {
    this.#undo = undo
    this.#cluster = cluster
    this.#recorder = recorder
    this.#git = git
    this.#conversions = conversions
  }

  async import(node: Node) {
    const { admin } = this.#cluster
    const name = `imported-${++this.#made}`
    const made = await this.#cluster.ask(node, admin, 'POST', '/user/repos', { name })
    if (made.status !== 201) return this.#recorder.failed('repository', made.status)
    const source = { vcs: 'git', vcs_url: `${this.#git.url}/open/source.git` }
    const { status } = await this.#cluster.ask(node, admin, 'PUT', `/repos/admin/${name}/import`, source)
    if (status === 201) this.#recorder.acknowledge('import', name, node.place)
    else this.#recorder.failed('import', status)
  }

  async convert() {
    const out = this.#conversions.out(`converted-${++this.#made}.git`)
    this.#converting = startConvert([this.#conversions.out('svn'), out])
    const { code, messages } = await this.#converting.ended
    this.#converting = undefined
    const refs = code === 0 ? await refsIn(out) : ''
    this.#expected ??= refs
    if (code === 0 && refs === this.#expected) this.#recorder.acknowledge('conversion', out, -1)
    else this.#recorder.unexpected.push(`conversion: ${code} ${messages.slice(-300)}`)
  }

  /** The commit that imports must have. */
  async head() {
    return (await refsIn(this.#git.pathOf('source'))).trim().split(' ')[1]
  }

  async [Symbol.asyncDispose]() {
    this.#converting?.child.kill('SIGKILL')
    await this.#undo.disposeAsync()
  }
}
