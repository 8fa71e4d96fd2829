import { expect, openForge } from './forge.ts'

/** The paths of the pages. */
export const repository = '/ada/engine/settings/hooks'
export const organization = '/organizations/acme/settings/hooks'

/** Ada administers a repository and an organization; Ben maintains the first and is a member of the second; Cy is neither. */
export async function openTargets() {
  const forge = await openForge()
  const [ada, ben, cy] = [await forge.person('ada'), await forge.person('ben'), await forge.person('cy')]
  await ada.owns('engine', { private: true, auto_init: true })
  await forge.organization('acme', ada)
  await expect(200, await ada.put('/orgs/acme/memberships/ben', { role: 'member' }))
  await expect(201, await ada.put('/repos/ada/engine/collaborators/ben', { permission: 'maintain' }))
  const [{ id }] = await ben.read('/user/repository_invitations')
  await expect(204, await ben.patch(`/user/repository_invitations/${id}`))
  return Object.assign(forge, { ada, ben, cy })
}

/** The hooks of a target from the API. */
export const hooksAt = (forge: Awaited<ReturnType<typeof openTargets>>, path: string) =>
  forge.ada.read(path === repository ? '/repos/ada/engine/hooks' : '/orgs/acme/hooks')
