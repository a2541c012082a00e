/** An argument that cannot be right, whatever the network says. */
export class ValueError extends Error {
  override readonly name = 'ValueError';
}
