// Accepts every event and every batch, and does no more.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

const server = createServer((request, response) => {
  request.resume().on('end', () => {
    response.writeHead(202, { 'Content-Type': 'application/json' });
    response.end('{"accepted":0,"duplicates":0,"rejected":[]}');
  });
}).listen(0, '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo;
  console.log(JSON.stringify({ url: `http://127.0.0.1:${port}` }));
});
