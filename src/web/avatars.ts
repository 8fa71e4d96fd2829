import { createHash } from 'node:crypto'
import type { FastifyInstance } from 'fastify'

/** An avatar derived from the account's id: five by five mirrored squares in one colour. */
export function mountAvatars(app: FastifyInstance) {
  app.get<{ Params: { id: string } }>('/avatars/:id', (request, reply) => {
    if (!/^\d{1,15}$/.test(request.params.id)) return reply.callNotFound()
    return reply
      .headers({
        'Cache-Control': 'public, max-age=86400',
        'Content-Security-Policy': "default-src 'none'",
        'X-Content-Type-Options': 'nosniff',
      })
      .type('image/svg+xml')
      .send(draw(request.params.id))
  })
}

function draw(id: string) {
  const bytes = createHash('sha256').update(`avatar ${id}`).digest()
  const hue = Math.round(((bytes[0] ?? 0) / 256) * 360)
  const squares = []
  for (let row = 0; row < 5; row++) {
    for (let column = 0; column < 3; column++) {
      if ((bytes[1 + row * 3 + column] ?? 0) < 128) continue
      const columns = new Set([column, 4 - column])
      for (const x of columns) squares.push(`<rect x="${x + 0.5}" y="${row + 0.5}" width="1" height="1"/>`)
    }
  }
  return (
    '<svg xmlns="http://www.w3.org/2000/svg" width="96" height="96" viewBox="0 0 6 6" shape-rendering="crispEdges">' +
    `<rect width="6" height="6" fill="#f0f2f4"/><g fill="hsl(${hue} 55% 50%)">${squares.join('')}</g></svg>`
  )
}
