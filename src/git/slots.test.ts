import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Slots } from './slots.ts'

/** How many of these callers get a slot at the same time. */
async function taken(slots: Slots, callers: { user_id?: number; ip?: string }[]) {
  let count = 0
  for (const { user_id, ip } of callers) {
    const slot = await slots.take({ user_id, ip }).catch(() => undefined)
    if (slot) count++
  }
  return count
}

const several = <T>(length: number, make: (index: number) => T) => Array.from({ length }, (_, index) => make(index))

test('a user and an address take a quarter of the slots, and a network of many IPv6 addresses half', async () => {
  const open = () => new Slots(16, 1)
  assert.equal(
    await taken(
      open(),
      several(16, () => ({ user_id: 1, ip: '192.0.2.1' })),
    ),
    4,
  )
  assert.equal(
    await taken(
      open(),
      several(16, () => ({ ip: '192.0.2.1' })),
    ),
    4,
  )
  assert.equal(
    await taken(
      open(),
      several(16, (index) => ({ ip: `2001:db8:1:2::${index}` })),
    ),
    4,
  )
  assert.equal(
    await taken(
      open(),
      several(16, (index) => ({ ip: `2001:db8:1:${index}::1` })),
    ),
    8,
  )
  assert.equal(
    await taken(
      open(),
      several(16, (index) => ({ ip: `2001:db8:${index}::1` })),
    ),
    8,
  )
  assert.equal(
    await taken(
      open(),
      several(16, (index) => ({ ip: `192.0.2.${index}` })),
    ),
    16,
  )
  assert.equal(
    await taken(
      open(),
      several(16, (index) => ({ user_id: index, ip: '192.0.2.1' })),
    ),
    16,
  )
})

test('a slot that is given back goes to the next caller with room', async () => {
  const slots = new Slots(4, 60_000)
  const first = await slots.take({ user_id: undefined, ip: '2001:db8:1:2::1' })
  const second = slots.take({ user_id: undefined, ip: '2001:db8:1:2::2' })
  const other = await slots.take({ user_id: undefined, ip: '2001:db8:ffff::2' })
  first[Symbol.dispose]()
  const [one] = [await second]
  one[Symbol.dispose]()
  other[Symbol.dispose]()
  assert.equal(slots.taken, 0)
})
