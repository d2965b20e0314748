"""post.py PATH TEXT: posts TEXT to the broker at PATH and prints its answer."""
import json, socket, struct, sys

broker = socket.socket(socket.AF_UNIX)
broker.connect(sys.argv[1])
stream = broker.makefile("rwb")

post = {"type": "post", "id": 1, "name": "DataNotification", "userInfo": {"data": sys.argv[2]}}
body = json.dumps(post).encode()
stream.write(struct.pack(">I", len(body)) + body)
stream.flush()
print(json.loads(stream.read(*struct.unpack(">I", stream.read(4)))))
