"""The messages of ONNX, for the protobuf writer of `export`: field numbers are those of `onnx.proto`.

In: dicts. Out: bytes.

>>> encode("OperatorSetIdProto", {"domain": "", "version": 18}).hex()
'0a001012'
"""

from d2s.export import protobuf
from d2s.export.protobuf import encode

__all__ = ["encode"]
protobuf.SCHEMA |= {
    "ModelProto": {
        1: ("ir_version", "int"), 2: ("producer_name", "text"), 7: ("graph", "GraphProto"),
        8: ("opset_import", "OperatorSetIdProto*"),
    },
    "OperatorSetIdProto": {1: ("domain", "text"), 2: ("version", "int")},
    "GraphProto": {
        1: ("node", "NodeProto*"), 2: ("name", "text"), 5: ("initializer", "TensorProto*"), 11: ("input", "ValueInfoProto*"),
        12: ("output", "ValueInfoProto*"),
    },
    "NodeProto": {1: ("input", "text*"), 2: ("output", "text*"), 3: ("name", "text"), 4: ("op_type", "text"),
                  5: ("attribute", "AttributeProto*")},
    "AttributeProto": {
        1: ("name", "text"), 2: ("f", "float"), 3: ("i", "int"), 4: ("s", "text"), 5: ("t", "TensorProto"),
        6: ("g", "GraphProto"), 8: ("ints", "int*"), 20: ("type", "int"),
    },
    "TensorProto": {1: ("dims", "int*"), 2: ("data_type", "int"), 8: ("name", "text"), 9: ("raw_data", "text")},
    "ValueInfoProto": {1: ("name", "text"), 2: ("type", "TypeProto")},
    "TypeProto": {1: ("tensor_type", "TensorTypeProto")},
    "TensorTypeProto": {1: ("elem_type", "int"), 2: ("shape", "TensorShapeProto")},
    "TensorShapeProto": {1: ("dim", "DimensionProto*")},
    "DimensionProto": {1: ("dim_value", "int"), 2: ("dim_param", "text")},
}  # fmt: skip
