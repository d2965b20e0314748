"""receive.py PATH: prints what the broker at PATH sends. `notification-broker path` prints the PATH."""
import json, socket, struct, sys

broker = socket.socket(socket.AF_UNIX)
broker.connect(sys.argv[1])
stream = broker.makefile("rwb")

def send(**frame):
    body = json.dumps(frame).encode()
    stream.write(struct.pack(">I", len(body)) + body)
    stream.flush()

send(type="addObserver", id=1, observer="python", name="DataNotification")
while header := stream.read(4):
    frame = json.loads(stream.read(*struct.unpack(">I", header)))
    print(frame["type"], frame.get("userInfo"), flush=True)
