import { expect, type Person } from './forge.ts'

/** One person gives a repository to another, who accepts it. */
export async function handOver(giver: Person, path: string, receiver: Person, accepted: Record<string, unknown> = {}) {
  const { id } = await expect(202, await giver.post(`${path}/transfer`, { new_owner: receiver.login }))
  const offers: { url: string; repository: { id: number } }[] = await receiver.read('/user/repository_transfers')
  const offer = offers.find(({ repository }) => repository.id === id)
  if (!offer) throw new Error(`${receiver.login} is not offered ${path}`)
  return (await expect(200, await receiver.patch(offer.url, accepted))).repository
}
