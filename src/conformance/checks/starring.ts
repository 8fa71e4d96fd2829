import { at } from '../answer.ts'
import { Part } from '../check.ts'
import { repository, user } from '../resources.ts'
import { listOf, record, time } from '../shape.ts'
import { checkAuthentication } from './statuses.ts'

export const starring = new Part('Starring')

const gazers = 'GET /repos/{owner}/{repo}/stargazers'
const own = 'GET /user/starred'
const ofUser = 'GET /users/{username}/starred'
const one = '/user/starred/{owner}/{repo}'
const star = 'application/vnd.service.v3.star+json'
const starMedia = 'each list item gains a starred_at timestamp.'

starring.check(
  'stargazers.list',
  gazers,
  ['200 array of User; 422', 'login string, id integer, node_id string, avatar_url string, gravatar_id string, url string'],
  async ({ anonymous, target, workspace }) => {
    const answer = (await anonymous.get(`${(await workspace.starred()).path}/stargazers`)).is(200).matches(listOf(user))
    answer.must(
      answer.list().some((row) => row.login === target.login),
      `the user ${target.login}`,
      answer.list().map((row) => row.login),
    )
  },
)

starring.check(
  'stargazers.star-media',
  gazers,
  [starMedia, 'named user for stargazers and repo for starred repositories.'],
  async ({ me, workspace }) =>
    (await me.get(`${(await workspace.starred()).path}/stargazers`, { accept: star }))
      .is(200)
      .matches(listOf(record({ starred_at: time, user })))
      .items(),
)

starring.check(
  'stargazers.pages',
  gazers,
  ['/repos/{owner}/{repo}/stargazers | per_page, page'],
  async ({ me, other, workspace }) => {
    const caller = other()
    const repo = await workspace.repo()
    for (const client of [me, caller]) (await client.put(`/user/starred/${repo.full_name}`)).is(204)
    const first = (await me.get(`${repo.path}/stargazers?per_page=1`)).is(200)
    first.equals('the number of users', first.list().length, 1)
    const second = (await me.get(`${repo.path}/stargazers?per_page=1&page=2`)).is(200)
    second.equals('the number of users', second.list().length, 1)
    second.must(second.list()[0]?.login !== first.list()[0]?.login, 'another user on the second page', second.list()[0]?.login)
  },
)

starring.check('stargazers.unknown', gazers, ['resource not found.'], async ({ me, workspace }) =>
  (await me.get(`/repos/${workspace.name('none')}/${workspace.name('none')}/stargazers`)).is(404),
)

/** The two lists of starred repositories. */
for (const [id, operation, words, of] of [
  ['starred', own, '200 array of Repository; 304, 401, 403', () => '/user/starred'],
  [
    'starred-by-user',
    ofUser,
    'sort, direction, per_page, page | 200 array of Repository',
    (login: string) => `/users/${login}/starred`,
  ],
] as const) {
  starring.check(
    `${id}.list`,
    operation,
    [
      words,
      'Only in the starred lists: clone_url, mirror_url, svn_url, homepage (strings)',
      'Always: id integer, node_id string, name string, full_name string',
      'Many string URL fields, some URI templates',
    ],
    async ({ me, target, workspace }) => {
      const { full_name } = await workspace.starred()
      const answer = (await me.get(`${of(target.login)}?per_page=100`)).is(200).matches(listOf(repository))
      answer.must(
        answer.list().some((row) => row.full_name === full_name),
        full_name,
        answer.list().map((row) => row.full_name),
      )
    },
  )

  starring.check(
    `${id}.star-media`,
    operation,
    [starMedia, "The item's resource then sits in a second property"],
    async ({ me, target, workspace }) => {
      await workspace.starred()
      const answer = await me.get(of(target.login), { accept: star })
      answer
        .is(200)
        .matches(listOf(record({ starred_at: time, repo: repository })))
        .items()
    },
  )

  starring.check(
    `${id}.direction`,
    operation,
    ['sort string, direction string, per_page, page', words],
    async ({ me, target, workspace }) => {
      const repos = [await workspace.repo(), await workspace.repo()]
      for (const repo of repos) {
        ;(await me.put(`/user/starred/${repo.full_name}`)).is(204)
        // Dates have whole seconds, and two equal ones have no order.
        await workspace.sleep(1100)
      }
      const names = repos.map(({ full_name }) => full_name)
      const order = async (direction: string) => {
        const answer = (
          await me.get(`${of(target.login)}?per_page=100&sort=created&direction=${direction}`, { accept: star })
        ).is(200)
        const dates = answer.list().map((row) => Date.parse(`${row.starred_at}`))
        const sign = direction === 'asc' ? 1 : -1
        const found = answer
          .list()
          .flatMap((row) => `${at(row, 'repo.full_name')}`)
          .filter((name) => names.includes(name))
        answer.equals(`the stars in the order ${direction}`, found, direction === 'asc' ? names : names.toReversed())
        return answer.must(
          dates.every((date, index) => index === 0 || sign * (date - (dates[index - 1] ?? 0)) >= 0),
          `stars in the order ${direction}`,
          dates,
        )
      }
      await order('desc')
      await order('asc')
    },
  )

  starring.check(
    `${id}.pages`,
    operation,
    ['Every list endpoint takes query per_page (integer) and page (integer) unless stated.'],
    async ({ me, target, workspace }) => {
      await workspace.starred()
      ;(await me.put(`/user/starred/${(await workspace.repo()).full_name}`)).is(204)
      const page = async (number: number) => (await me.get(`${of(target.login)}?per_page=1&page=${number}`)).is(200)
      const [first, second] = [await page(1), await page(2)]
      for (const answer of [first, second]) answer.equals('the number of repositories', answer.list().length, 1)
      second.must(second.list()[0]?.id !== first.list()[0]?.id, 'another repository on the second page', second.list()[0]?.id)
    },
    { alone: true },
  )
}

starring.check(
  'starred.not-modified',
  own,
  ['200 array of Repository; 304, 401, 403'],
  async ({ me, workspace }) => {
    await workspace.starred()
    const etag = (await me.get('/user/starred')).is(200).header('etag')
    ;(await me.get('/user/starred', { 'if-none-match': etag })).is(304).empty()
    ;(await me.get('/user/starred', { 'if-none-match': '"of-another-response"' })).is(200)
  },
  { alone: true },
)

starring.check('starred-by-user.unknown', ofUser, ['resource not found.'], async ({ me, workspace }) =>
  (await me.get(`/users/${workspace.name('none')}/starred`)).is(404),
)

starring.check(
  'star.check',
  `GET ${one}`,
  ['204 if starred; 404 if not starred; 304, 401, 403', 'A GET of a star status returns 404 for not starred.'],
  async ({ me, workspace }) => {
    const shared = await workspace.starred()
    ;(await me.get(`/user/starred/${shared.full_name}`)).is(204).empty()
    const repo = await workspace.hookRepo()
    ;(await me.get(`/user/starred/${repo.full_name}`)).is(404)
  },
)

starring.check(
  'star.put',
  `PUT ${one}`,
  ['204; 304, 401, 403, 404. The request must carry Content-Length zero.', 'Star request | Content-Length must be zero'],
  async ({ me, target, workspace }) => {
    const repo = await workspace.repo()
    const path = `/user/starred/${repo.full_name}`
    // Without a body, the request has a Content-Length of zero.
    ;(await me.put(path)).is(204).empty()
    ;(await me.put(path)).is(204)
    ;(await me.get(path)).is(204)
    const answer = (await me.get(`${repo.path}/stargazers`)).is(200)
    answer.equals(
      'the stargazers',
      answer.list().map((row) => row.login),
      [target.login],
    )
  },
)

starring.check(
  'star.put.counted',
  `PUT ${one}`,
  ['forks_count, stargazers_count, watchers_count, size, open_issues_count, subscribers_count, network_count (integers)'],
  async ({ me, workspace }) => {
    const { full_name } = await workspace.starred()
    const answer = (await me.get('/user/starred?per_page=100')).is(200)
    answer.equals(
      'stargazers_count',
      at(
        answer.list().find((row) => row.full_name === full_name),
        'stargazers_count',
      ),
      1,
    )
  },
  { alone: true },
)

starring.check(
  'star.delete',
  `DELETE ${one}`,
  ['DELETE | /user/starred/{owner}/{repo} | | 204; 304, 401, 403, 404'],
  async ({ me, workspace }) => {
    const path = `/user/starred/${(await workspace.repo()).full_name}`
    ;(await me.put(path)).is(204)
    ;(await me.delete(path)).is(204).empty()
    ;(await me.get(path)).is(404)
  },
)

for (const [id, method] of [
  ['put', 'PUT'],
  ['delete', 'DELETE'],
  ['check', 'GET'],
] as const)
  starring.check(`star.${id}.unknown`, `${method} ${one}`, ['resource not found.'], async ({ me, workspace }) =>
    (await me.send(method, `/user/starred/${workspace.name('none')}/${workspace.name('none')}`)).is(404),
  )

starring.check(
  'star.other-user',
  `PUT ${one}`,
  ['It lets users star repositories. It lists stargazers, lists starred repositories, and lists watchers of a repository.'],
  async ({ other, target, workspace }) => {
    const caller = other()
    const repo = await workspace.repo()
    ;(await caller.put(`/user/starred/${repo.full_name}`)).is(204)
    const answer = (await caller.get(`/users/${target.other?.login}/starred?per_page=100`)).is(200)
    answer.must(
      answer.list().some((row) => row.full_name === repo.full_name),
      repo.full_name,
      answer.list().map((row) => row.full_name),
    )
  },
)

const sharedStar = async ({ workspace }: Parameters<Parameters<typeof starring.check>[3]>[0]) =>
  `/user/starred/${(await workspace.shared()).full_name}`
checkAuthentication(starring, [
  {
    id: 'starred.list',
    method: 'GET',
    operation: own,
    words: '200 array of Repository; 304, 401, 403',
    path: () => '/user/starred',
  },
  {
    id: 'star.check',
    method: 'GET',
    operation: `GET ${one}`,
    words: '204 if starred; 404 if not starred; 304, 401, 403',
    path: sharedStar,
  },
  {
    id: 'star.put',
    method: 'PUT',
    operation: `PUT ${one}`,
    words: '204; 304, 401, 403, 404. The request must carry',
    path: sharedStar,
  },
  {
    id: 'star.delete',
    method: 'DELETE',
    operation: `DELETE ${one}`,
    words: 'DELETE | /user/starred/{owner}/{repo} | | 204; 304, 401, 403, 404',
    path: sharedStar,
  },
])
