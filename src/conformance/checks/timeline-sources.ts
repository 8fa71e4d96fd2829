import { at, type Row, Skip } from '../answer.ts'
import type { Context } from '../check.ts'
import type { Repo } from '../workspace.ts'

/** Repositories whose events the timelines must show: an empty timeline would prove nothing. */

export function organization({ me, workspace }: Context): Promise<string> {
  return workspace.once('organization', async () => {
    const login = (await me.get('/user/orgs')).prepares().list()[0]?.login
    if (typeof login !== 'string') throw new Skip('The user of --token belongs to no organization.')
    return login
  })
}

/** A public repository of the organization. */
export const organizationRepo = (context: Context): Promise<Repo> =>
  context.workspace.once('repository of an organization', async () =>
    context.workspace.repo({}, context.workspace.me, await organization(context), 'organization'),
  )

const isStar = (repo: Repo) => (row: Row) => row.type === 'WatchEvent' && at(row, 'repo.name') === repo.full_name

/** A repository that the caller watches and that the other user starred. */
export const watchedAndStarred = (context: Context): Promise<Repo> =>
  context.workspace.once('watched repository', async () => {
    const { me, other, target, workspace } = context
    const caller = other()
    const repo = await workspace.repo()
    ;(await me.put(`${repo.path}/subscription`, { subscribed: true })).prepares()
    ;(await caller.put(`/user/starred/${repo.full_name}`)).is(204)
    await me.until(`/users/${target.login}/received_events`, 'the star of the other user', (list) =>
      list.is(200).list().some(isStar(repo)),
    )
    return repo
  })
