import { Skip } from '../answer.ts'
import { type Context, Part } from '../check.ts'
import { completeImport, sourceImport } from '../resources.ts'
import { complete, emptyRepo, finished, startImport } from './import-source.ts'

export const imports = new Part('Source imports')

const prefix = '/repos/{owner}/{repo}/import'
const closed = 'Source import endpoints | close 00:00 UTC April 12, 2024'

imports.check('imports.none', `GET ${prefix}`, ['GET | /import | | 200 Import; 404; 503'], async (context) =>
  (await context.me.get(`${(await emptyRepo(context)).path}/import`)).is(404),
)

imports.check(
  'imports.get',
  `GET ${prefix}`,
  [
    'opt_in, opt_out or undecided.',
    'status | string | see States',
    'human-readable status',
    'total size of those files.',
    'large_files_count | integer',
    'authors_count | integer',
    'url, html_url, authors_url, repository_url | string',
    'Path prefix: /repos/{owner}/{repo}/import.',
    'GET | /import | | 200 Import; 404; 503',
    'originating repository address',
    'subversion, git, mercurial or tfvc',
    'repository is ready',
  ],
  async (context) => {
    const { path, answer, repo } = await complete(context)
    const again = (await context.me.get(path)).is(200).matches(completeImport)
    again.equals('vcs', again.row().vcs, 'git').equals('vcs_url', again.row().vcs_url, answer.row().vcs_url)
    const found = (await context.me.get(`${again.row().url}`)).is(200)
    found.equals('vcs_url at its url', found.row().vcs_url, again.row().vcs_url)
    const authors = (await context.me.get(`${again.row().authors_url}`)).is(200)
    authors.equals('the number of authors', authors.items().length, again.row().authors_count)
    const repository = (await context.me.get(`${again.row().repository_url}`)).is(200)
    repository.equals('full_name at repository_url', repository.row().full_name, repo.full_name)
  },
)

imports.check(
  'imports.content',
  `PUT ${prefix}`,
  [
    'import a repository from another version-control host',
    'An import without errors moves through these statuses in order: detecting, importing, mapping, pushing, complete.',
  ],
  async (context) => {
    const { repo } = await complete(context)
    const answer = (await context.me.get(`${repo.path}/contents/file.txt`)).is(200)
    answer.equals('the content of file.txt', Buffer.from(`${answer.row().content}`, 'base64').toString(), 'A file\n')
  },
)

imports.check(
  'imports.start',
  `PUT ${prefix}`,
  ['vcs_url string (required), vcs string (subversion, git, mercurial, tfvc)', 'vcs given | importing'],
  async (context) => {
    const { answer, path } = await startImport(context)
    answer.must(
      ['importing', 'mapping', 'pushing', 'complete'].includes(`${answer.row().status}`),
      'the status importing, or a later one',
      answer.row().status,
    )
    ;(await context.me.delete(path)).is(204)
  },
)

imports.check(
  'imports.start.detect',
  `PUT ${prefix}`,
  ['vcs omitted | detecting', 'importer identifies the source type at vcs_url'],
  async (context) => {
    const { answer, path } = await startImport(context, { vcs: undefined })
    answer.equals('status', answer.row().status, 'detecting')
    const found = await context.me.until(path, 'the vcs git', (last) => last.is(200).row().status !== 'detecting')
    found.equals('vcs', found.row().vcs, 'git')
    ;(await context.me.delete(path)).is(204)
  },
)

imports.check(
  'imports.start.no-url',
  `PUT ${prefix}`,
  ['vcs_url string (required)', '201 Import; 404, 422, 503.'],
  async (context) => (await context.me.put(`${(await emptyRepo(context)).path}/import`, { vcs: 'git' })).is(422),
)

imports.check('imports.start.wrong-vcs', `PUT ${prefix}`, ['vcs string (subversion, git, mercurial, tfvc)'], async (context) =>
  (await context.me.put(`${(await emptyRepo(context)).path}/import`, { vcs: 'cvs', vcs_url: 'https://example.com/' })).is(422),
)

imports.check('imports.start.unknown', `PUT ${prefix}`, ['201 Import; 404, 422, 503.'], async (context) => {
  await emptyRepo(context)
  ;(
    await context.me.put(`/repos/${context.target.login}/${context.workspace.name('none')}/import`, {
      vcs_url: 'https://example.com/',
    })
  ).is(404)
})

imports.check(
  'imports.restart',
  `PATCH ${prefix}`,
  ['With no parameters the import restarts.', 'Update an import with no parameters', '200 Import; 503'],
  async (context) => {
    const { path } = await startImport(context)
    ;(await context.me.patch(path)).is(200).matches(sourceImport)
    const answer = await finished(context, path)
    answer.equals('status', answer.row().status, 'complete')
  },
)

/** An address of the server where no repository is. */
const nowhere = ({ target, workspace }: Context) => `${target.web}/${target.login}/${workspace.name('none')}.git`

imports.check(
  'imports.failed',
  `GET ${prefix}`,
  [
    'Failure statuses: auth_failed (authentication needed to reach the source), error (failed; response has failed_step and message), detection_needs_auth, detection_found_nothing, detection_found_multiple.',
    'present when status is error',
  ],
  async (context) => {
    const { path } = await startImport(context, { vcs_url: nowhere(context) })
    const answer = await finished(context, path)
    answer.must(answer.row().status !== 'complete', 'a failure status', answer.row().status)
    if (answer.row().status === 'error')
      answer.must(
        typeof answer.row().failed_step === 'string' && typeof answer.row().message === 'string',
        'failed_step and message',
        answer.text,
      )
  },
)

imports.check(
  'imports.credentials',
  `PATCH ${prefix}`,
  [
    'Update an import with vcs_username and vcs_password',
    'vcs_username, vcs_password, vcs (subversion, tfvc, git, mercurial), tfvc_project.',
  ],
  async (context) => {
    const source = await context.workspace.privateRepo()
    const { path } = await startImport(context, { vcs_url: source.row.clone_url })
    const failed = await finished(context, path)
    failed.must(
      ['auth_failed', 'detection_needs_auth', 'error'].includes(`${failed.row().status}`),
      'a status that asks for credentials',
      failed.row().status,
    )
    if (failed.row().status === 'error') throw new Skip('The server hides a private source, so no credentials are asked for.')
    ;(await context.me.patch(path, { vcs_username: context.target.login, vcs_password: context.target.token }))
      .is(200)
      .matches(sourceImport)
    const answer = await finished(context, path)
    answer.equals('status', answer.row().status, 'complete')
  },
)

imports.check(
  'imports.cancel',
  `DELETE ${prefix}`,
  ['DELETE | /import | | 204; 503', 'any | Cancel an import', 'Cancel an import, then start again with the correct URL'],
  async (context) => {
    const { path } = await startImport(context, { vcs_url: nowhere(context) })
    ;(await context.me.delete(path)).is(204).empty()
    ;(await context.me.get(path)).is(404)
    const source = await context.workspace.shared()
    ;(await context.me.put(path, { vcs: 'git', vcs_url: source.row.clone_url })).is(201)
    ;(await context.me.delete(path)).is(204)
  },
)

const operations: [method: string, rest: string, body?: object][] = [
  ['PUT', '', {}],
  ['PATCH', ''],
  ['DELETE', ''],
  ['GET', '/authors'],
  ['PATCH', '/authors/1', { name: 'Nobody' }],
  ['GET', '/large_files'],
  ['PATCH', '/lfs', { use_lfs: 'opt_in' }],
]

imports.check(
  'imports.closed',
  `GET ${prefix}`,
  [
    closed,
    'The source import endpoints are retired from the date given in Limits.',
    'service unavailable. On the public events list, and on import endpoints while under maintenance.',
    'All return 503 while the service is under maintenance.',
  ],
  async ({ me, workspace }) => {
    const path = `${(await workspace.shared()).path}/import`
    // A server may keep them open. Either way, all operations are alike: closed, under maintenance, or without an import.
    const { status } = (await me.get(path)).is(404, 410, 503)
    for (const [method, rest, body] of operations)
      (await me.send(method, `${path}${rest}`, body ? { body } : {})).is(...(status === 404 ? [404, 422] : [status]))
  },
)
